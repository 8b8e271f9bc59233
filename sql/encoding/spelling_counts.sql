-- A row per column: its place, values of several spellings, and those with letters beyond ASCII.
--
-- Values of one key are spellings of one value: texts that differ in case and in what Python takes
-- for a blank in ASCII, and real numbers that differ after some digits.
--
-- Holes: source (the table), texts (its columns of text), reals (those of real numbers), form (the
-- digits that tell two of these apart, as PRINTF writes them).
{% macro keys_of(column) %}
FROM (
  SELECT DISTINCT
    {{ column }} AS value
  FROM {{ source }}
) AS held
WHERE value IS NOT NULL
{% endmacro %}
{% for place, column in texts %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ place }},
  {{ count_if("spellings > 1") }},
  {{ count_if("beyond_ascii > 0") }}
FROM (
  SELECT
    CAST(COUNT(*) AS BIGINT) AS spellings,
    {{ count_if("REGEXP_MATCHES(CAST(value AS VARCHAR), '[^\\x00-\\x7f]')") }} AS beyond_ascii
  {{ keys_of(column) }}
  GROUP BY
    TRIM(REGEXP_REPLACE(LOWER(CAST(value AS VARCHAR)), '[\t-\r\x1c-\x1f ]+', ' ', 'g'))
) AS keys
{% endfor %}
{% for place, column in reals %}
{% if texts or not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ place }},
  {{ count_if("spellings > 1") }},
  CAST(0 AS BIGINT)
FROM (
  SELECT
    CAST(COUNT(*) AS BIGINT) AS spellings
  {{ keys_of(column) }}
  GROUP BY PRINTF({{ form }}, value)
) AS keys
{% endfor %}

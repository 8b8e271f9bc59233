-- Per column, and for each of some formats of strptime, how many values are no date; in one row.
--
-- Holes: source (the table), columns (those of texts), formats.
SELECT
  {% for column in columns %}
  {% for form in formats %}
  CAST(COUNT(CASE
    WHEN {{ column }} IS NOT NULL AND TRY_STRPTIME({{ column }}, {{ form }}) IS NULL THEN 1
  END) AS BIGINT),
  {% endfor %}
  {% endfor %}
FROM {{ source }}

-- Classes of each set of columns: its place, classes, and records alone in one. NULL is a value.
--
-- Holes: source (a table), sets (of columns, none empty).
{% for columns in sets %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ loop.index0 }},
  CAST(COUNT(*) AS BIGINT),
  {{ count_if("class_size = 1") }}
FROM (
  SELECT CAST(COUNT(*) AS BIGINT) AS class_size
  FROM {{ source }}
  GROUP BY {{ listed(columns) }}
) AS classes
{% endfor %}

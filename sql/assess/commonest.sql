-- A row per column: its place, and how many rows hold its most frequent value, or NULL.
--
-- Holes: source (the table), columns.
{% for column in columns %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ loop.index0 }},
  CAST(MAX(size) AS BIGINT)
FROM (
  SELECT CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ source }}
  GROUP BY {{ column }}
) AS counted
{% endfor %}

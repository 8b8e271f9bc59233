-- Per column, and for each of some regular expressions, how many values match; in one row.
--
-- Holes: source (the table), columns (those of texts), patterns.
SELECT
  {% for column in columns %}
  {% for pattern in patterns %}
  CAST(COUNT(CASE WHEN REGEXP_MATCHES({{ column }}, {{ pattern }}) THEN 1 END) AS BIGINT),
  {% endfor %}
  {% endfor %}
FROM {{ source }}

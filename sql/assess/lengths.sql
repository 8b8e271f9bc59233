-- Per column the least, the mean and the greatest number of characters of its values; in one row.
--
-- Holes: source (the table), columns.
SELECT
  {% for column in columns %}
  CAST(MIN(LENGTH(CAST({{ column }} AS VARCHAR))) AS BIGINT),
  CAST(AVG(LENGTH(CAST({{ column }} AS VARCHAR))) AS DOUBLE),
  CAST(MAX(LENGTH(CAST({{ column }} AS VARCHAR))) AS BIGINT),
  {% endfor %}
FROM {{ source }}

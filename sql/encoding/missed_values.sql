-- The distinct values of a column that its leaf map misses: value, size (their records).
--
-- Holes: source (a table), attribute (its column), leaves (rows of value).
SELECT
  value,
  size
FROM (
  SELECT
    {{ attribute }} AS value,
    COUNT(*) AS size
  FROM {{ source }}
  GROUP BY {{ attribute }}
) AS held
WHERE NOT EXISTS (
  SELECT 1
  FROM {{ leaves }} AS leaves
  WHERE held.value IS NOT DISTINCT FROM leaves.value
)

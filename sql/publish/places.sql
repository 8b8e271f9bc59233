-- A row per distinct value of a column: the value, and its place among them from 0 on.
--
-- Holes: source (the table), column (its column).
SELECT
  value,
  CAST(ROW_NUMBER() OVER (ORDER BY value) - 1 AS BIGINT) AS sqlanon_place
FROM (
  SELECT DISTINCT
    {{ column }} AS value
  FROM {{ source }}
) AS held

-- Persons, and the records of those who have several; NULL is nobody.
--
-- Holes: source (the table), entity (the column that says whose record it is).
SELECT
  CAST(COUNT(*) AS BIGINT),
  {{ total('CASE WHEN size > 1 THEN size END') }}
FROM (
  SELECT CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ source }}
  WHERE {{ entity }} IS NOT NULL
  GROUP BY {{ entity }}
) AS persons

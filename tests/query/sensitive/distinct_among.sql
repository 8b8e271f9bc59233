SELECT
  CAST(COUNT(DISTINCT "town") AS BIGINT),
  CAST(COUNT(DISTINCT "pay") AS BIGINT)
FROM (
  SELECT
    "town",
    "pay"
  FROM "people"
  LIMIT 3
) AS "head"

SELECT
  "word_0",
  "value",
  1 AS "size"
FROM (
  SELECT DISTINCT
    "word_0",
    "value_0" AS "value",
    "entity"
  FROM "codes"
) AS "persons"

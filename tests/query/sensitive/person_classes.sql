SELECT
  "word_0",
  CAST(COUNT(*) AS BIGINT) AS "class_size"
FROM (
  SELECT DISTINCT
    "word_0",
    "entity"
  FROM "codes"
) AS "persons"
GROUP BY
  "word_0"

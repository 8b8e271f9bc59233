SELECT
  "word_0",
  CAST(COUNT(*) AS BIGINT) AS "class_size"
FROM "codes"
GROUP BY
  "word_0"
HAVING
  COUNT(*) > 1

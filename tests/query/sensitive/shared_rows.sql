SELECT
  "word_0",
  "value_0" AS "value",
  1 AS "size"
FROM "codes"
WHERE
  "class_size" > 1

SELECT DISTINCT
  (
    "value_0" * 2
  ) + "value_1" AS "word_0",
  0 AS "word_1",
  (
    "value_0" * 2
  ) + "value_1" AS "value",
  1 AS "size"
FROM "codes"
WHERE
  "class_size" = 1

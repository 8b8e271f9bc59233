SELECT
  "rows".*,
  COALESCE("larger"."class_size", 1) AS "class_size"
FROM "towns" AS "rows"
LEFT JOIN "larger" AS "larger"
  ON "rows"."word_0" = "larger"."word_0"

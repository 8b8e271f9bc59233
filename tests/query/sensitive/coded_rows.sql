SELECT
  "map_0"."word_0" + "map_1"."word_0" AS "word_0",
  "value_0"."rank" AS "value_0",
  "value_1"."rank" AS "value_1",
  "source"."person" AS "entity"
FROM "people" AS "source"
JOIN (
  SELECT
    *
  FROM "towns"
) AS "map_0"
  ON "source"."town" = "map_0"."value"
JOIN (
  SELECT
    *
  FROM "ages"
) AS "map_1"
  ON "source"."age" IS NOT DISTINCT FROM "map_1"."value"
LEFT JOIN "grades" AS "value_0"
  ON "source"."grade" IS NOT DISTINCT FROM "value_0"."value"
LEFT JOIN "pays" AS "value_1"
  ON "source"."pay" IS NOT DISTINCT FROM "value_1"."value"

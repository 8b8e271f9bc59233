SELECT
  CAST("class_size" AS BIGINT),
  CAST(COUNT(*) AS BIGINT)
FROM (
  SELECT
    CAST(COUNT(*) AS BIGINT) AS "class_size"
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
  GROUP BY
    "map_0"."word_0" + "map_1"."word_0"
) AS "classes"
GROUP BY
  "class_size"

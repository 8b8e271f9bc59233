SELECT
  CAST("class_size" AS BIGINT),
  CAST(COUNT(*) AS BIGINT)
FROM (
  SELECT
    "class_size"
  FROM "larger"
) AS "classes"
GROUP BY
  "class_size"

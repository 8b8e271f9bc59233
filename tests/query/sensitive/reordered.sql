SELECT
  "ranked"."value",
  "ranked"."rank",
  "tree"."node_1"
FROM (
  SELECT
    "value" AS "value",
    -"rank" AS "rank"
  FROM "grades"
) AS "ranked"
JOIN (
  SELECT
    "leaf" AS "value",
    "rank",
    "node_1"
  FROM (VALUES
    ('low', 0, 0),
    ('mid', 1, 0),
    ('top', 2, 1),
    (NULL, 3, 2)) AS "listed"("leaf", "rank", "node_1")
) AS "tree"
  ON "ranked"."value" IS NOT DISTINCT FROM "tree"."value"

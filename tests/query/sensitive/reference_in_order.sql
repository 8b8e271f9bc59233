SELECT
  *,
  CAST(SUM("reached") OVER (ORDER BY "rank" ASC) - "reached" AS BIGINT) AS "below"
FROM (
  SELECT
    *,
    CAST(SUM("records") OVER (ORDER BY "rank" ASC) AS BIGINT) AS "reached",
    CAST(SUM("records") OVER (PARTITION BY "node_1") AS BIGINT) AS "node_1_records"
  FROM (
    SELECT
      "held"."value",
      CAST(ROW_NUMBER() OVER (ORDER BY "ordered"."rank" ASC) - 1 AS BIGINT) AS "rank",
      "held"."records",
      "ordered"."node_1"
    FROM (
      SELECT
        "value",
        CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "records"
      FROM "source"
      WHERE
        NOT "value" IS NULL
      GROUP BY
        "value"
    ) AS "held"
    JOIN (
      SELECT
        "leaf" AS "value",
        "rank",
        "node_1"
      FROM (VALUES
        (NULL, 3, 2),
        ('top', 2, 1),
        ('mid', 1, 0),
        ('low', 0, 0)) AS "listed"("leaf", "rank", "node_1")
    ) AS "ordered"
      ON "held"."value" IS NOT DISTINCT FROM "ordered"."value"
  ) AS "inner_rows"
) AS "inner_rows"

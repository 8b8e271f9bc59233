SELECT
  *,
  CAST(SUM("reached") OVER (ORDER BY "rank" ASC) - "reached" AS BIGINT) AS "below"
FROM (
  SELECT
    *,
    CAST(SUM("records") OVER (ORDER BY "rank" ASC) AS BIGINT) AS "reached"
  FROM (
    SELECT
      "held"."value",
      CAST(ROW_NUMBER() OVER (ORDER BY "held"."value" ASC) - 1 AS BIGINT) AS "rank",
      "held"."records"
    FROM (
      SELECT
        "value",
        CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "records"
      FROM "source"
      GROUP BY
        "value"
    ) AS "held"
  ) AS "inner_rows"
) AS "inner_rows"

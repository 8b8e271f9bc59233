SELECT
  "class",
  CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
  CAST(COUNT("held") AS BIGINT) AS "distinct_values",
  COALESCE(MAX("held"), 0) AS "largest",
  COALESCE(
    (
      CAST(SUM(
        CAST((
          "held" * LN(CAST("held" AS DOUBLE) / CAST("records" AS DOUBLE))
        ) * 1125899906842624 AS DECIMAL(38, 0))
      ) AS DOUBLE) / 1125899906842624
    ) / NULLIF(CAST(COALESCE(SUM("held"), 0) AS BIGINT), 0) + LN(CAST(6 AS DOUBLE) / NULLIF(CAST(COALESCE(SUM("held"), 0) AS BIGINT), 0)),
    0
  ) AS "distance_kl"
FROM (
  SELECT
    "held"."class",
    "held"."size",
    "held"."held",
    "reference"."rank",
    "reference"."records",
    "reference"."below",
    "reference"."node_1",
    "reference"."node_1_records"
  FROM (
    SELECT
      "class",
      "value",
      CAST(SUM("size") AS BIGINT) AS "size",
      CAST(SUM("size") AS BIGINT) AS "held"
    FROM "source"
    GROUP BY
      "class",
      "value"
  ) AS "held"
  LEFT JOIN "reference" AS "reference"
    ON "held"."value" IS NOT DISTINCT FROM "reference"."value"
) AS "classes"
GROUP BY
  "class"

SELECT
  "class",
  CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
  CAST(COUNT("held") AS BIGINT) AS "distinct_values",
  COALESCE(MAX("held"), 0) AS "largest",
  COALESCE(
    CAST(COALESCE(
      SUM(
        CASE
          WHEN "held" * 6 > "records" * "counted"
          THEN (
            "held" * 6
          ) - (
            "records" * "counted"
          )
        END
      ),
      0
    ) AS DOUBLE) / NULLIF(CAST(CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS DOUBLE) * 6, 0),
    0
  ) AS "distance_equal"
FROM (
  WITH "values" AS (
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
  )
  SELECT
    "values".*,
    "sizes"."counted"
  FROM "values"
  JOIN (
    SELECT
      "class",
      CAST(SUM("held") AS BIGINT) AS "counted"
    FROM "values"
    GROUP BY
      "class"
  ) AS "sizes"
    ON "values"."class" IS NOT DISTINCT FROM "sizes"."class"
) AS "classes"
GROUP BY
  "class"

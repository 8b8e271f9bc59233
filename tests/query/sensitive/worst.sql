SELECT
  MIN("distinct_values") AS "fewest",
  MIN("entropy") AS "least_entropy",
  CAST(COALESCE(SUM(CASE WHEN "distinct_values" <= 1 THEN "class_size" END), 0) AS BIGINT) AS "homogeneous",
  MAX(CASE WHEN "tail_2" > 0 THEN CAST("largest" AS DOUBLE) / "tail_2" END) AS "ratio_2",
  CAST(COUNT(CASE WHEN "tail_2" = 0 THEN 1 END) AS BIGINT) AS "tailless_2",
  MAX("distance_equal") AS "furthest_equal",
  CAST(COUNT(CASE WHEN "distinct_values" < 2 THEN 1 END) AS BIGINT) AS "violations_0",
  CAST(COUNT(CASE WHEN "distance_equal" > CAST(0.30000000000099997 AS DOUBLE) THEN 1 END) AS BIGINT) AS "violations_1"
FROM (
  SELECT
    "class",
    CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
    CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
    CAST(COUNT("held") AS BIGINT) AS "distinct_values",
    COALESCE(MAX("held"), 0) AS "largest",
    CASE
      WHEN COUNT("held") > 1
      THEN LN(CAST(COALESCE(SUM("held"), 0) AS BIGINT)) - (
        (
          CAST(SUM(CAST((
            "held" * LN("held")
          ) * 1125899906842624 AS DECIMAL(38, 0))) AS DOUBLE) / 1125899906842624
        ) / CAST(COALESCE(SUM("held"), 0) AS BIGINT)
      )
      ELSE 0
    END AS "entropy",
    CAST(COALESCE(SUM("held"), 0) AS BIGINT) - COALESCE(MAX("held"), 0) AS "tail_2",
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
) AS "figures"

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
    ) + COALESCE(MAX("moved"), 0) AS DOUBLE) / NULLIF((
      CAST(CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS DOUBLE) * 6
    ) * 2, 0),
    0
  ) AS "distance_hierarchical"
FROM (
  WITH "spread" AS (
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
  )
  SELECT
    "spread".*,
    "moved"."moved"
  FROM "spread"
  LEFT JOIN (
    SELECT
      "class",
      SUM("moved") AS "moved"
    FROM (
      SELECT
        "class",
        COALESCE(
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
        ) AS "moved"
      FROM (
        SELECT
          "class",
          "counted",
          CAST(SUM("held") AS BIGINT) AS "held",
          MAX("node_1_records") AS "records"
        FROM "spread"
        GROUP BY
          "class",
          "counted",
          "node_1"
      ) AS "nodes"
      GROUP BY
        "class"
    ) AS "levels"
    GROUP BY
      "class"
  ) AS "moved"
    ON "spread"."class" IS NOT DISTINCT FROM "moved"."class"
) AS "classes"
GROUP BY
  "class"

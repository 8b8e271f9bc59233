SELECT
  "class",
  CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
  CAST(COUNT("held") AS BIGINT) AS "distinct_values",
  COALESCE(MAX("held"), 0) AS "largest",
  COALESCE(
    (
      CAST(SUM(CASE WHEN NOT "held" IS NULL THEN ABS("scaled") * (
        "next_rank" - "rank"
      ) END) AS DOUBLE) / 1125899906842624
    ) / NULLIF(4 - 1, 0),
    0
  ) AS "distance_scaled",
  COALESCE(
    (
      CAST(SUM(
        CASE
          WHEN NOT "held" IS NULL
          THEN ABS("scaled-literal") * (
            "next_rank" - "rank"
          )
        END
      ) AS DOUBLE) / 1125899906842624
    ) / NULLIF(4 - 1, 0),
    0
  ) AS "distance_scaled_literal"
FROM (
  SELECT
    *,
    SUM(
      CAST((
        (
          CAST((
            "held" * 6
          ) - (
            "records" * "counted"
          ) AS DOUBLE) / (
            CAST("counted" AS DOUBLE) * 6
          )
        ) * ABS(LN(CAST("held" * 6 AS DOUBLE) / CAST("records" * "counted" AS DOUBLE)))
      ) * 1125899906842624 AS BIGINT)
    ) OVER (PARTITION BY "class" ORDER BY "rank" ASC) AS "scaled",
    SUM(
      ABS(
        CAST((
          (
            CAST((
              "held" * 6
            ) - (
              "records" * "counted"
            ) AS DOUBLE) / (
              CAST("counted" AS DOUBLE) * 6
            )
          ) * ABS(LN(CAST("held" * 6 AS DOUBLE) / CAST("records" * "counted" AS DOUBLE)))
        ) * 1125899906842624 AS BIGINT)
      )
    ) OVER (PARTITION BY "class" ORDER BY "rank" ASC) AS "scaled-literal"
  FROM (
    SELECT
      *,
      CAST(SUM("held") OVER (PARTITION BY "class") AS BIGINT) AS "counted",
      CAST(SUM("held") OVER (PARTITION BY "class" ORDER BY "rank" ASC) AS BIGINT) AS "through",
      COALESCE(LEAD("rank") OVER (PARTITION BY "class" ORDER BY "rank" ASC), 4) AS "next_rank",
      CAST(COALESCE(
        LEAD("below") OVER (PARTITION BY "class" ORDER BY "rank" ASC),
        (
          SELECT
            SUM("reached")
          FROM "reference"
        )
      ) AS BIGINT) AS "next_below"
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
    ) AS "inner_rows"
  ) AS "inner_rows"
) AS "classes"
GROUP BY
  "class"

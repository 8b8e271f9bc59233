SELECT
  "class",
  CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
  CAST(COUNT("held") AS BIGINT) AS "distinct_values",
  COALESCE(MAX("held"), 0) AS "largest",
  COALESCE(
    CAST(SUM(
      CASE
        WHEN NOT "held" IS NULL
        THEN CASE
          WHEN "turn" >= "next_rank"
          THEN (
            (
              (
                "next_rank" - "rank"
              ) * "through"
            ) * 6
          ) - (
            (
              "next_below" - "below"
            ) * "counted"
          )
          WHEN "turn" <= "rank"
          THEN 0 - (
            (
              (
                (
                  "next_rank" - "rank"
                ) * "through"
              ) * 6
            ) - (
              (
                "next_below" - "below"
              ) * "counted"
            )
          )
          ELSE (
            (
              (
                (
                  "turn" - "rank"
                ) * "through"
              ) * 6
            ) - (
              (
                "turn_below" - "below"
              ) * "counted"
            )
          ) - (
            (
              (
                (
                  "next_rank" - "turn"
                ) * "through"
              ) * 6
            ) - (
              (
                "next_below" - "turn_below"
              ) * "counted"
            )
          )
        END + CASE WHEN "through" = "held" THEN "below" * "counted" ELSE 0 END
      END
    ) AS DOUBLE) / NULLIF(
      (
        CAST(CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS DOUBLE) * 6
      ) * (
        4 - 1
      ),
      0
    ),
    0
  ) AS "distance_ordered"
FROM (
  WITH "marked" AS (
    SELECT
      *,
      CAST((
        (
          "through" * 6 + "counted"
        ) - 1
      ) // "counted" AS BIGINT) AS "mark"
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
  )
  SELECT
    "marked".*,
    "turns"."turn",
    "turns"."turn_below"
  FROM "marked"
  LEFT JOIN (
    SELECT
      "mark",
      "reached",
      COUNT("reached") OVER (ORDER BY "mark" ASC, "reached" ASC NULLS FIRST) AS "turn",
      CAST(COALESCE(SUM("reached") OVER (ORDER BY "mark" ASC, "reached" ASC NULLS FIRST), 0) AS BIGINT) AS "turn_below"
    FROM (
      SELECT DISTINCT
        "mark",
        CAST(NULL AS BIGINT) AS "reached"
      FROM "marked"
      UNION ALL
      SELECT
        "reached",
        "reached"
      FROM "reference"
    ) AS "axis"
  ) AS "turns"
    ON "marked"."mark" = "turns"."mark" AND "turns"."reached" IS NULL
) AS "classes"
GROUP BY
  "class"

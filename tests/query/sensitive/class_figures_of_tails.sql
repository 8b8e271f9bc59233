SELECT
  "class",
  CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
  CAST(COUNT("held") AS BIGINT) AS "distinct_values",
  COALESCE(MAX("held"), 0) AS "largest",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "tail_1",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) - COALESCE(MAX("held"), 0) AS "tail_2",
  CAST(COALESCE(SUM("held"), 0) AS BIGINT) - CAST(COALESCE(SUM(CASE WHEN "place" < 3 THEN "held" END), 0) AS BIGINT) AS "tail_3"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY "class" ORDER BY "held" DESC) AS "place"
  FROM (
    SELECT
      "class",
      "value",
      CAST(SUM("size") AS BIGINT) AS "size",
      CASE WHEN NOT "value" IS NULL THEN CAST(SUM("size") AS BIGINT) END AS "held"
    FROM "source"
    GROUP BY
      "class",
      "value"
  ) AS "inner_rows"
) AS "classes"
GROUP BY
  "class"

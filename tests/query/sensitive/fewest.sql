SELECT
  MIN("distinct_values")
FROM (
  SELECT
    "class",
    CAST(COALESCE(SUM("size"), 0) AS BIGINT) AS "class_size",
    CAST(COALESCE(SUM("held"), 0) AS BIGINT) AS "counted",
    CAST(COUNT("held") AS BIGINT) AS "distinct_values",
    COALESCE(MAX("held"), 0) AS "largest"
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
  ) AS "classes"
  GROUP BY
    "class"
) AS "figures"

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
  END AS "entropy"
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

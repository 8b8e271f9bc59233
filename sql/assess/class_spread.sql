-- A row per class: its class_size, and the sum of the squares and the largest of its value counts.
--
-- Holes: rows (a value, size and the keys), keys (the columns that tell classes apart).
SELECT
  CAST(SUM(held) AS BIGINT) AS class_size,
  SUM(held * held) AS squares,
  MAX(held) AS largest
FROM (
  SELECT
    {{ listed(keys) }},
    CAST(SUM(size) AS BIGINT) AS held
  FROM {{ rows }} AS rows
  GROUP BY
    {{ listed(keys) }},
    value
) AS spread
GROUP BY {{ listed(keys) }}

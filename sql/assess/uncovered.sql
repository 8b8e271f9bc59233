-- Labels of an earlier release that stand for no value, and the records with them; one row.
--
-- Holes: earlier (the release), published (its column of labels), cover (a label of each value).
SELECT
  CAST(COUNT(DISTINCT COALESCE({{ published }}, '')) AS BIGINT),
  CAST(COUNT(*) AS BIGINT)
FROM {{ earlier }} AS rows
WHERE NOT EXISTS (
  SELECT 1
  FROM {{ cover }} AS cover
  WHERE cover.label IS NOT DISTINCT FROM rows.{{ published }}
)

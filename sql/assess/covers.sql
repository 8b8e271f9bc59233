-- The labels of an earlier release that stand for each original value: rows of both.
--
-- Holes: nodes (a value and a label, one of its nodes), rows (the new release), original (its
-- column of original values), earlier (the release), published (its column of labels).
SELECT DISTINCT covers.value, covers.label
FROM (
  SELECT value, label FROM {{ nodes }} AS nodes
  UNION ALL
  SELECT {{ original }}, CAST({{ original }} AS VARCHAR) FROM {{ rows }} AS rows
) AS covers
JOIN (
  SELECT DISTINCT {{ published }} AS label FROM {{ earlier }} AS rows
) AS used
  ON covers.label IS NOT DISTINCT FROM used.label

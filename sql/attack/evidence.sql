-- The classes that each evidence points to: evidence, node. The evidence of who knows nothing is 0,
-- and points to all.
--
-- Holes: pairs (reached), matching (of these), words (their names), classes (placed_classes), node
-- (what they are called).
SELECT DISTINCT
  matching.evidence,
  pairs.node
FROM {{ pairs }} AS pairs
JOIN {{ matching }} AS matching
  ON {{ equal("pairs", "matching", words) }}
UNION ALL
SELECT DISTINCT
  CAST(0 AS BIGINT) AS evidence,
  {{ node }} AS node
FROM {{ classes }} AS classes

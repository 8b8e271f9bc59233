-- The classes that each lead leads to: lead, node.
--
-- Holes: pairs (reached), matching (of these), words (their names).
SELECT DISTINCT
  matching.lead,
  pairs.node
FROM {{ pairs }} AS pairs
JOIN {{ matching }} AS matching
  ON {{ equal("pairs", "matching", words) }}

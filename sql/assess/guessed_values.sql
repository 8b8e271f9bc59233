-- How many rows of values the classes of all evidence have.
--
-- Holes: evidence (a node and its evidence, 0 where there is none), counts (a row per node, value).
SELECT {{ total('sizes.counted') }}
FROM {{ evidence }} AS evidence
JOIN (
  SELECT node, CAST(COUNT(*) AS BIGINT) AS counted
  FROM {{ counts }} AS counts
  GROUP BY node
) AS sizes
  ON sizes.node = evidence.node
WHERE evidence.evidence <> 0

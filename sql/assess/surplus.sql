-- Number of places that more records are published under than there are.
--
-- Holes: released and original (records by place), places (the columns that tell them).
SELECT CAST(COUNT(*) AS BIGINT)
FROM {{ released }} AS released
LEFT JOIN {{ original }} AS original
  ON {{ equal('released', 'original', places) }}
WHERE original.held IS NULL OR released.released > original.held

-- The values that an attacker guesses from: the evidence, a value that most of the released records
-- of its classes have, and how many values are so.
--
-- Holes: evidence (evidence and node), values (class_values).
WITH counted AS (
  SELECT
    evidence.evidence,
    counts.value,
    {{ total("counts.records") }} AS records
  FROM {{ values }} AS counts
  JOIN {{ evidence }} AS evidence
    ON evidence.node = counts.node
  GROUP BY ALL
),
ranked AS (
  SELECT
    evidence,
    value,
    records = MAX(records) OVER (PARTITION BY evidence) AS is_guessed
  FROM counted
)
SELECT
  evidence,
  value,
  CAST(COUNT(*) OVER (PARTITION BY evidence) AS BIGINT) AS guesses
FROM ranked
WHERE is_guessed

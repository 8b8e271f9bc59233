-- A row for the original and one for the control: which, records, the sum of the chances that their
-- value is guessed from the records that match, and that it is guessed without looking at these.
-- Where nothing matches, the guess is the latter.
--
-- Holes: targets (words, which, value and size), words (their names), matching (by words), guesses
-- (by evidence, of which 0 is that of all records).
WITH attacked AS (
  SELECT
    targets.sqlanon_which,
    targets.value,
    targets.size,
    COALESCE(known.evidence, 0) AS evidence
  FROM {{ targets }} AS targets
  LEFT JOIN {{ matching }} AS matching
    ON {{ equal("targets", "matching", words) }}
  LEFT JOIN (
    SELECT DISTINCT
      evidence
    FROM {{ guesses }} AS guesses
  ) AS known
    ON known.evidence = matching.evidence
)
SELECT
  attacked.sqlanon_which,
  {{ total("attacked.size") }},
  COALESCE({{ real_sum("attacked.size * CAST(1 AS DOUBLE) / informed.guesses") }}, 0),
  COALESCE({{ real_sum("attacked.size * CAST(1 AS DOUBLE) / plain.guesses") }}, 0)
FROM attacked
LEFT JOIN {{ guesses }} AS informed
  ON informed.evidence = attacked.evidence
  AND informed.value IS NOT DISTINCT FROM attacked.value
LEFT JOIN {{ guesses }} AS plain
  ON plain.evidence = 0
  AND plain.value IS NOT DISTINCT FROM attacked.value
GROUP BY attacked.sqlanon_which

-- A row for the original and one for the control: which, records, the sum of the chances that their
-- value is guessed from the records that match, and that it is guessed without looking at these.
-- Where nothing matches, the guess is the latter.
--
-- Holes: targets (words, which, value and size), words (their names), matching (by words), guesses
-- (of matching records), plain (of all records).
SELECT
  targets.sqlanon_which,
  {{ total("targets.size") }},
  {{ real_sum("targets.size * CASE WHEN led.lead IS NULL THEN COALESCE(CAST(1 AS DOUBLE) / plain.guesses, 0) ELSE COALESCE(CAST(1 AS DOUBLE) / guesses.guesses, 0) END") }},
  {{ real_sum("targets.size * COALESCE(CAST(1 AS DOUBLE) / plain.guesses, 0)") }}
FROM {{ targets }} AS targets
LEFT JOIN {{ matching }} AS matching
  ON {{ equal("targets", "matching", words) }}
LEFT JOIN (
  SELECT DISTINCT
    lead
  FROM {{ guesses }} AS guesses
) AS led
  ON led.lead = matching.lead
LEFT JOIN {{ guesses }} AS guesses
  ON guesses.lead = matching.lead
  AND guesses.value IS NOT DISTINCT FROM targets.value
LEFT JOIN {{ plain }} AS plain
  ON plain.value IS NOT DISTINCT FROM targets.value
GROUP BY targets.sqlanon_which

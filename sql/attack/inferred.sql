-- A row for the original and one for the control: which, records, the sum of the chances that their
-- value is guessed from the records that match, and that it is guessed without looking at these.
-- Where nothing matches, the guess is the latter.
--
-- Holes: targets (words, which, value and size), words (their names), matching (by words), guesses
-- (of matching records), plain (of all records).
SELECT
  sqlanon_which,
  {{ total("size") }},
  {{ real_sum("size * CASE WHEN is_led THEN chance ELSE plain_chance END") }},
  {{ real_sum("size * plain_chance") }}
FROM (
  SELECT
    targets.sqlanon_which,
    targets.size,
    led.lead IS NOT NULL AS is_led,
    COALESCE(CAST(1 AS DOUBLE) / guesses.guesses, 0) AS chance,
    COALESCE(CAST(1 AS DOUBLE) / plain.guesses, 0) AS plain_chance
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
) AS attacked
GROUP BY sqlanon_which

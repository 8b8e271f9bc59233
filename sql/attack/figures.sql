-- A row for the original and one for the control: which, records, records that one released record
-- alone matches, and the sum of the chances that two attackers find the same released record.
--
-- Holes: targets (words, which and size), words (their names), whole (matching), one_half
-- and other_half (the same by the columns that each attacker knows), one_masks and other_masks
-- (their bits per word).
SELECT
  targets.sqlanon_which,
  {{ total("targets.size") }},
  {{ total("CASE WHEN whole.records = 1 THEN targets.size END") }},
  COALESCE(
    {{ real_sum("targets.size * CAST(whole.records AS DOUBLE) / one.records / other.records") }},
    0
  )
FROM {{ targets }} AS targets
LEFT JOIN {{ whole }} AS whole
  ON {{ equal("targets", "whole", words) }}
LEFT JOIN {{ one_half }} AS one
  ON {{ same_words("targets", "one", one_masks) }}
LEFT JOIN {{ other_half }} AS other
  ON {{ same_words("targets", "other", other_masks) }}
GROUP BY targets.sqlanon_which

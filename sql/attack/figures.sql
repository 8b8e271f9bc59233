-- A row for the original and one for the control: which, records, records that one released record
-- alone matches, and the sum of the chances that two attackers find the same released record.
--
-- Holes: targets (words, which and size), words (their names), whole and one_half (matching, by
-- words), other_half (the same, by the bits of a half; None where there are no halves), masks (these
-- bits).
SELECT
  targets.sqlanon_which,
  {{ total("targets.size") }},
  {{ total("CASE WHEN whole.records = 1 THEN targets.size END") }},
  {% if other_half is None %}
  NULL
  {% else %}
  {{ real_sum("targets.size * CAST(whole.records AS DOUBLE) / one_half.records / other_half.records") }}
  {% endif %}
FROM {{ targets }} AS targets
LEFT JOIN {{ whole }} AS whole
  ON {{ equal("targets", "whole", words) }}
{% if other_half is not None %}
LEFT JOIN {{ one_half }} AS one_half
  ON {{ equal("targets", "one_half", words) }}
LEFT JOIN {{ other_half }} AS other_half
  ON {{ same_words("targets", "other_half", masks) }}
{% endif %}
GROUP BY targets.sqlanon_which

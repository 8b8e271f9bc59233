-- A row for the original and one for the control: which, records, records that one released record
-- alone matches, and the sum of the chances that two attackers find the same released record.
--
-- Holes: targets (words, which and size), words (their names), whole and one_half (matching, by
-- words), other_half (the same, by the bits of a half; None where there are no halves), masks (of
-- these bits).
SELECT
  targets.sqlanon_which,
  {{ total("targets.size") }},
  {{ total("CASE WHEN whole.records = 1 THEN targets.size END") }},
  {% if other_half is None %}
  NULL
  {% else %}
  COALESCE({{ real_sum("targets.size * CAST(whole.records AS DOUBLE) / pairs") }}, 0)
  {% endif %}
FROM {{ targets }} AS targets
LEFT JOIN {{ whole }} AS whole
  ON {{ equal("targets", "whole", words) }}
{% if other_half is not None %}
LEFT JOIN (
  SELECT
    {% for word in words %}
    one_half.{{ word }},
    {% endfor %}
    one_half.records * other_half.records AS pairs
  FROM {{ one_half }} AS one_half
  JOIN {{ other_half }} AS other_half
    ON {{ same_words("one_half", "other_half", masks) }}
) AS halves
  ON {{ equal("targets", "halves", words) }}
{% endif %}
GROUP BY targets.sqlanon_which

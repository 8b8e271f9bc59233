-- The released records that match an original combination: its words, their number (records), and
-- if asked for a number that combinations with the same single class share, and no others (lead).
--
-- Holes: pairs (reached), words (their names), classes (placed_classes), own (what the prefixes of
-- the pairs are called), is_led (whether lead is asked for).
SELECT
  {% for word in words %}
  pairs.{{ word }},
  {% endfor %}
  {{ total("sizes.records") }} AS records,
  {% if is_led %}
  CASE
    WHEN COUNT(*) = 1
    THEN MIN(pairs.node)
    ELSE -CAST(ROW_NUMBER() OVER (ORDER BY {{ listed(words) }}) AS BIGINT)
  END AS lead,
  {% endif %}
FROM {{ pairs }} AS pairs
JOIN (
  SELECT
    {{ own }} AS node,
    {{ total("class_size") }} AS records
  FROM {{ classes }} AS classes
  GROUP BY {{ own }}
) AS sizes
  ON sizes.node = pairs.node
GROUP BY {{ listed(words) }}

-- The released records that match an original combination: its words, their number (records), and
-- a number that combinations with the same single class share, and no others (evidence).
--
-- Holes: pairs (reached), words (their names), classes (placed_classes), node (what the classes of
-- the pairs are called).
SELECT
  {% for word in words %}
  pairs.{{ word }},
  {% endfor %}
  {{ total("sizes.records") }} AS records,
  CASE
    WHEN COUNT(*) = 1
    THEN MIN(pairs.node)
    ELSE -CAST(ROW_NUMBER() OVER (ORDER BY {{ listed(words) }}) AS BIGINT)
  END AS evidence
FROM {{ pairs }} AS pairs
JOIN (
  SELECT
    {{ node }} AS node,
    {{ total("class_size") }} AS records
  FROM {{ classes }} AS classes
  GROUP BY {{ node }}
) AS sizes
  ON sizes.node = pairs.node
GROUP BY {{ listed(words) }}

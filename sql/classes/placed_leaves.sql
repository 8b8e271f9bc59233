-- A leaf map with the place of each value of the column in another word of its code.
--
-- Holes: leaves (rows of value and words), places (rows of value and sqlanon_place), words (that it
-- has), key (the other word), factor (what a place counts in it).
SELECT
  places.value,
  {% for word in words %}
  leaves.{{ word }},
  {% endfor %}
  CAST(places.sqlanon_place * {{ factor }} AS BIGINT) AS {{ key }}
FROM {{ places }} AS places
LEFT JOIN {{ leaves }} AS leaves
  ON places.value IS NOT DISTINCT FROM leaves.value

-- The rows of a reference, with the ranks as values.
--
-- Holes: reference (rows of reference), levels (the inner ones of the hierarchy).
SELECT
  rank AS value,
  rank,
  records,
  reached,
  below,
  {% for level in levels %}
  node_{{ level }},
  node_{{ level }}_records,
  {% endfor %}
FROM {{ reference }} AS reference

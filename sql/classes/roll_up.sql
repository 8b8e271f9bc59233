-- The frequency set of a node from a finer set or its details, in the same shape: words, size.
--
-- Holes: source (the finer set), masks (per word the bits that tell the node's classes apart),
-- carried (columns whose values are told apart within a class, too), sums (columns that are added
-- up).
SELECT
  {% for bits in masks %}
  word_{{ loop.index0 }} & {{ bits }} AS word_{{ loop.index0 }},
  {% endfor %}
  {% for column in carried %}
  {{ column }},
  {% endfor %}
  {% for column in sums %}
  {{ total(column) }} AS {{ column }},
  {% endfor %}
FROM {{ source }} AS source
GROUP BY ALL

-- One class of one record for each value that classes of one record have: the words, the first of
-- which is the value, value and size. All such classes of a value have the same figures.
--
-- Holes: rows (of the words, values and class_size), words (how many there are), value.
SELECT DISTINCT
  {{ value }} AS word_0,
  {% for w in range(words) %}
  {% if w %}
  0 AS word_{{ w }},
  {% endif %}
  {% endfor %}
  {{ value }} AS value,
  1 AS size
FROM {{ rows }}
WHERE class_size = 1

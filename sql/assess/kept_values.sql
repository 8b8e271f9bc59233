-- A row per coded row whose class is not suppressed: a value, size, and the words of the class.
--
-- Holes: source (words, size and the column), column (its name), classes (the classes of a node),
-- masks (per word the bits that tell these apart).
SELECT
  source.{{ column }} AS value,
  source.size,
  {% for bits in masks %}
  classes.word_{{ loop.index0 }},
  {% endfor %}
FROM {{ source }} AS source
JOIN {{ classes }} AS classes
  ON {{ same_words("source", "classes", masks) }}
WHERE NOT classes.small

-- The class whose values are furthest from those of the table: labels, class_size, distance.
--
-- Of classes equally far the largest one, then the first by its labels.
--
-- Holes: figures (those of classes), labels (that tell classes apart), distance (its column).
SELECT
  {% for label in labels %}
  {{ label }},
  {% endfor %}
  class_size,
  {{ distance }} AS distance
FROM {{ figures }} AS figures
ORDER BY
  distance DESC NULLS LAST,
  class_size DESC NULLS LAST
  {% for label in labels %}
  , {{ label }}
  {% endfor %}
LIMIT 1

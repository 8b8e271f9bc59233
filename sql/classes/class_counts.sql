-- One row per node: number, classes, those smaller than k, the records in them, and, where asked,
-- the squared sizes of all classes and of the small ones.
--
-- Holes: classes (rows of number and class_size), k, squares (whether these are asked).
SELECT
  number,
  CAST(COUNT(*) AS BIGINT),
  CAST(COUNT(CASE WHEN class_size < {{ k }} THEN 1 END) AS BIGINT),
  CAST(COALESCE(SUM(CASE WHEN class_size < {{ k }} THEN class_size END), 0) AS BIGINT),
  {% if squares %}
  {{ total("class_size * class_size") }},
  CAST(COALESCE(SUM(CASE WHEN class_size < {{ k }} THEN class_size * class_size END), 0) AS BIGINT),
  {% endif %}
FROM {{ classes }} AS classes
GROUP BY number

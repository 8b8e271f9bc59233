-- One row per class: labels, class_size, and how far its values are from those of the table.
--
-- Holes: spread (records by class and value: labels, value, size), labels, records (all that
-- count).
WITH classes AS (
  SELECT
    {% for label in labels %}
    {{ label }},
    {% endfor %}
    CAST(SUM(size) AS BIGINT) AS class_size
  FROM {{ spread }} AS spread
  GROUP BY ALL
),
overall AS (
  SELECT
    value,
    CAST(SUM(size) AS BIGINT) AS records
  FROM {{ spread }} AS spread
  GROUP BY value
)
SELECT
  {% for label in labels %}
  spread.{{ label }},
  {% endfor %}
  classes.class_size,
  CAST(
    SUM(GREATEST(spread.size * {{ records }} - overall.records * classes.class_size, 0)) AS DOUBLE
  ) / (CAST(classes.class_size AS DOUBLE) * {{ records }}) AS distance
FROM {{ spread }} AS spread
JOIN classes
  ON {{ same("spread", "classes", labels) }}
JOIN overall
  ON spread.value IS NOT DISTINCT FROM overall.value
GROUP BY
  {% for label in labels %}
  spread.{{ label }},
  {% endfor %}
  classes.class_size

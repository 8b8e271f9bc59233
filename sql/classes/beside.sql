-- A row per class of records: the keys, its released records, and the people of the population that
-- have the same keys.
--
-- Holes: rows (of the keys and size), population (of the keys and people), keys.
SELECT
  {% for key in keys %}
  classes.{{ key }},
  {% endfor %}
  classes.released,
  COALESCE(population.people, 0) AS people
FROM (
  SELECT
    {% for key in keys %}
    {{ key }},
    {% endfor %}
    {{ total("size") }} AS released
  FROM {{ rows }}
  {% if keys %}
  GROUP BY {{ listed(keys) }}
  {% endif %}
) AS classes
LEFT JOIN {{ population }} AS population
  ON {{ same("classes", "population", keys) }}

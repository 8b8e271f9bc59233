-- A row per class beside the population: the keys, its released records, the people of the
-- population, and its class_size. Of a class that the population alone has, these people are
-- taken for records that are missing.
--
-- Holes: rows (of the keys, released and people), keys, is_whole (whether classes of the population
-- alone are among them).
SELECT
  {{ listed(keys) }},
  released,
  people,
  {% if is_whole %}
  CASE WHEN released = 0 THEN people ELSE released END AS class_size
  {% else %}
  released AS class_size
  {% endif %}
FROM {{ rows }} AS classes
{% if not is_whole %}
WHERE released > 0
{% endif %}

-- A row per class beside the population: the keys, its released records, the people of the
-- population, and its class_size. Of a class that the population alone has, these people are
-- taken for records that are missing.
--
-- Holes: rows (of the keys, released and people), keys, counts_absent (whether classes of the
-- population alone are among them).
SELECT
  {{ listed(keys) }},
  released,
  people,
  {% if counts_absent %}
  CASE WHEN released = 0 THEN people ELSE released END AS class_size
  {% else %}
  released AS class_size
  {% endif %}
FROM {{ rows }} AS classes
{% if not counts_absent %}
WHERE released > 0
{% endif %}

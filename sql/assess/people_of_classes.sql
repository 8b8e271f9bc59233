-- Classes of a release beside its population, in one row: the fewest people of a class; the least
-- and greatest share of them that is released; people of all classes; classes with more records
-- than people, their records and people; and per condition the classes for which it holds.
--
-- Holes: classes (released and people), conditions.
SELECT
  MIN(people),
  MIN(released / NULLIF(people, 0)),
  MAX(released / NULLIF(people, 0)),
  {{ total("people") }},
  {{ count_if("released > people") }},
  {{ total("CASE WHEN released > people THEN released END") }},
  {{ total("CASE WHEN released > people THEN people END") }},
  {% for condition in conditions %}
  {{ count_if(condition) }},
  {% endfor %}
FROM {{ classes }} AS classes

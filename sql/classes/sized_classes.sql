-- The classes of a table: key_0, key_1, ..., the size in records, or in persons, and where records
-- have weights people, the sum of these.
--
-- Holes: source (a table), columns (that make the classes), entity (the column that says whose
-- record it is; None where records are counted), weight (of a record; or None), size (its name).
SELECT
  {% for column in columns %}
  key_{{ loop.index0 }},
  {% endfor %}
  CAST(COUNT(*) AS BIGINT) AS {{ size }},
  {% if weight is not None %}
  {{ real_sum("weight") }} AS people,
  {% endif %}
FROM (
  SELECT
    {% if entity is not None %}
    DISTINCT {{ entity }} AS person,
    {% endif %}
    {% for column in columns %}
    {{ column }} AS key_{{ loop.index0 }},
    {% endfor %}
    {% if weight is not None %}
    {{ weight }} AS weight,
    {% endif %}
  FROM {{ source }} AS source
) AS members
GROUP BY ALL

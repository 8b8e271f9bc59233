-- The classes of a table by number of records, or of persons: key_0, key_1, ..., and the size.
--
-- Holes: source (a table), columns (that make the classes), entity (the column that says whose
-- record it is; None where records are counted), size (its name).
SELECT
  {% for column in columns %}
  key_{{ loop.index0 }},
  {% endfor %}
  CAST(COUNT(*) AS BIGINT) AS {{ size }}
FROM (
  SELECT
    {% if entity is not None %}
    DISTINCT {{ entity }} AS person,
    {% endif %}
    {% for column in columns %}
    {{ column }} AS key_{{ loop.index0 }},
    {% endfor %}
  FROM {{ source }}
) AS members
GROUP BY ALL

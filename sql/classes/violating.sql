-- The classes that fail any model: the keys, class_size and required, the records that no node
-- below can publish.
--
-- Holes: parts (per relation of figures of the same classes its rows and its conditions: whether a
-- class fails a model, and the records required to go then), keys, most (the greatest of what these
-- require, each required_<model> of part_<number>), others (all parts but the first). The first
-- figures have class_size, and are of every class. What a class that fails nothing is required to
-- lose is -1.
WITH
{% for figures, conditions in parts %}
{% set number = loop.index0 %}
{% if not loop.first %}, {% endif %}part_{{ number }} AS (
  SELECT
    {{ listed(keys) }},
    {% if loop.first %}
    class_size,
    {% endif %}
    {% for fails, required in conditions %}
    CASE WHEN {{ fails }} THEN {{ required }} ELSE -1 END AS required_{{ loop.index0 }},
    {% endfor %}
  FROM {{ figures }} AS figures
)
{% endfor %}
, judged AS (
  SELECT
    {% for key in keys %}
    part_0.{{ key }},
    {% endfor %}
    part_0.class_size,
    LEAST({{ most }}, part_0.class_size) AS required
  FROM part_0
  {% for other in others %}
  LEFT JOIN {{ other }}
    ON {{ equal("part_0", other, keys) }}
  {% endfor %}
)
SELECT *
FROM judged
WHERE required >= 0

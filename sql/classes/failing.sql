-- Classes whose figures fail any model; of their records none is required to go, which only a
-- search asks for.
--
-- Holes: figures (rows of class_figures), keys, conditions (per model whether a class fails it).
SELECT
  {{ listed(keys) }},
  CAST(0 AS BIGINT) AS required
FROM {{ figures }} AS figures
WHERE
  {% for fails in conditions %}
  {% if not loop.first %} OR {% endif %}{{ fails }}
  {% endfor %}

-- The classes of a sample: what is carried, class_size, people (the sum of the weights), and
-- individual_risk, E[1 / F | f]: F people of the population share a class, of whom f = class_size
-- are in the sample, each drawn with probability p = f / people.
--
-- Up to p = 1/2 and within so many sizes it is the finite sum
--   x (1/(f-1) - x (1/(f-2) - ... - x ln(1/p))), x = p / (1 - p),
-- else 2F1(1, 1; f + 1; 1 - p) / people, by so many steps of the continued fraction of Gauss that
-- it is as exact as doubles are. Both are worked out from the inside, a step each; not every engine
-- reads expressions within so many others.
--
-- Holes: classes (rows of class_size, people, and what is carried), carried (columns), largest (the
-- last size of the finite sum), steps (per step from the last to the first what it and that before
-- it are called, its number, and factor, shift and low of the fraction), first (the last of these).
WITH
{% for own, before, number, factor, shift, low in steps %}
{% if loop.first %}
{{ before }} AS (
  SELECT
    {% for column in carried %}
    {{ column }},
    {% endfor %}
    class_size,
    people,
    CAST(class_size AS DOUBLE) AS size,
    CAST(1 AS DOUBLE) AS fraction,
    CAST(0 AS DOUBLE) AS total
  FROM {{ classes }} AS classes
)
{% endif %}
, {{ own }} AS (
  SELECT
    {% for column in carried %}
    {{ column }},
    {% endfor %}
    class_size,
    people,
    size,
    1 - (1 - size / people) * {{ factor }} * (size + {{ shift }})
      / (size + {{ low }}) / (size + {{ number }}) / fraction AS fraction,
    CASE
      WHEN size = {{ number }} THEN LN(people / size)
      WHEN size > {{ number }}
      THEN 1 / (size - {{ number }}) - size / NULLIF(people - size, 0) * total
      ELSE 0
    END AS total
  FROM {{ before }}
)
{% endfor %}
SELECT
  {% for column in carried %}
  {{ column }},
  {% endfor %}
  class_size,
  people,
  CASE
    WHEN 2 * size > people OR size > {{ largest }}
    THEN 1 / people / fraction
    ELSE size / (people - size) * total
  END AS individual_risk
FROM {{ first }}

-- The classes of a sample: what is carried, class_size, people (the sum of the weights), and
-- individual_risk, E[1 / F | f]: F people of the population share a class, of whom f = class_size
-- are in the sample, each drawn with probability p = f / people.
--
-- Up to p = 1/2 and within so many sizes it is the finite sum
--   x (1/(f-1) - x (1/(f-2) - ... - x ln(1/p))), x = p / (1 - p),
-- else 2F1(1, 1; f + 1; 1 - p) / people, by so many steps of the continued fraction of Gauss that
-- it is as exact as doubles are.
--
-- Holes: classes (rows of class_size, people, and what is carried), carried (columns), sizes (of
-- the finite sum, from 1 on), largest (of these), steps (factor, shift, low and high of each).
SELECT
  {% for column in carried %}
  classes.{{ column }},
  {% endfor %}
  class_size,
  people,
  CASE
    WHEN 2 * size > people OR size > {{ largest }}
    THEN 1 / people / (
      {% for factor, shift, low, high in steps %}
      1 - (1 - size / people) * {{ factor }} * (size + {{ shift }})
        / (size + {{ low }}) / (size + {{ high }}) / (
      {% endfor %}
      1
      {% for step in steps %}
      )
      {% endfor %}
    )
    ELSE size / (people - size) * (
      {% for own in sizes %}
      CASE
        WHEN size = {{ own }}
        THEN LN(people / size)
        ELSE 1 / (size - {{ own }}) - size / (people - size) * (
      {% endfor %}
      0
      {% for own in sizes %}
      ) END
      {% endfor %}
    )
  END AS individual_risk
FROM (
  SELECT
    *,
    CAST(class_size AS DOUBLE) AS size
  FROM {{ classes }} AS classes
) AS classes

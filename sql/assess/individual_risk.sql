-- A row per class of a sample: what is carried, records, and risk, E[1 / F | f]: F people of the
-- population share a class, of whom f = class_size are in the sample, each drawn with probability
-- p = f / people, the sum of the weights. It is the integral of 1 / (p + (1 - p) z^(1/f)) over z
-- from 0 to 1, divided by people; where all people are drawn, and for one or two records, there is
-- a closed form; that for two loses digits where p is near 1.
--
-- Holes: classes (rows of class_size, people, and what is carried), carried (columns), points (per
-- point z its logarithm, and its weight in the integral).
SELECT
  {% for column in carried %}
  {{ column }},
  {% endfor %}
  class_size AS records,
  CASE
    WHEN class_size >= people
    THEN 1 / people
    WHEN class_size = 1
    THEN LN(people) / (people - 1)
    WHEN class_size = 2 AND p < 0.5
    THEN p * (p * LN(p) + 1 - p) / (1 - p) / (1 - p)
    ELSE (
      {% for logarithm, weight in points %}
      {% if not loop.first %} + {% endif %}
      {{ weight }} / (p + (1 - p) * EXP({{ logarithm }} / class_size))
      {% endfor %}
    ) / people
  END AS risk
FROM (
  SELECT
    classes.*,
    class_size / people AS p
  FROM {{ classes }} AS classes
) AS drawn

-- One row: the worst figures of all classes, NULL or 0 where there is none.
--
-- Holes: figures (rows of class_figures), needed (which these are), distances (pairs of columns),
-- violations (per model whether a row violates it, as query/privacy/models compares).
SELECT
  MIN(distinct_values) AS fewest,
  {{ total("CASE WHEN distinct_values <= 1 THEN class_size END") }} AS homogeneous,
  MAX(CASE WHEN counted > 0 THEN CAST(largest AS DOUBLE) / counted END) AS greatest_share,
  {% if needed.entropy %}
  MIN(entropy) AS least_entropy,
  {% endif %}
  {% for l in needed.tails %}
  MAX(CASE WHEN tail_{{ l }} > 0 THEN CAST(largest AS DOUBLE) / tail_{{ l }} END) AS ratio_{{ l }},
  CAST(COUNT(CASE WHEN tail_{{ l }} = 0 THEN 1 END) AS BIGINT) AS tailless_{{ l }},
  {% endfor %}
  {% for distance, furthest in distances %}
  MAX({{ distance }}) AS {{ furthest }},
  {% endfor %}
  {% for violated in violations %}
  CAST(COUNT(CASE WHEN {{ violated }} THEN 1 END) AS BIGINT) AS violations_{{ loop.index0 }},
  {% endfor %}
FROM {{ figures }} AS figures

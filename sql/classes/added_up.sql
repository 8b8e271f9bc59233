-- Records and costs of violating classes, one row per node that has any: number; classes; and for
-- each count of records, their sum, that times the size of their class, and their cost.
--
-- Holes: rows (violating classes: number, class_size, counts, and the words where costs are),
-- counts (columns), squares (whether the products with the size are needed; else they are 0),
-- prices (per quasi-identifier whose values differ in cost its number and a table of level, words
-- and cost), words (how many words there are).
{% macro cost() %}
{% for number, table in prices %}
{% if not loop.first %} + {% endif %}COALESCE(price_{{ number }}.cost, 0)
{% endfor %}
{% endmacro %}
SELECT
  small.number,
  CAST(COUNT(*) AS BIGINT),
  {% for records in counts %}
  CAST(COALESCE(SUM(small.{{ records }}), 0) AS BIGINT),
  {% if squares %}
  CAST(COALESCE(SUM(small.{{ records }} * small.class_size), 0) AS BIGINT),
  {% else %}
  0,
  {% endif %}
  {% if prices %}
  CAST(COALESCE(SUM(small.{{ records }} * ({{ cost() }})), 0) AS BIGINT),
  {% else %}
  0,
  {% endif %}
  {% endfor %}
FROM {{ rows }} AS small
{% if prices %}
JOIN nodes
  ON nodes.number = small.number
{% endif %}
{% for number, table in prices %}
LEFT JOIN {{ table }} AS price_{{ number }}
  ON price_{{ number }}.level = nodes.level_{{ number }}
  {% for w in range(words) %}
  AND price_{{ number }}.word_{{ w }} = (small.word_{{ w }} & nodes.mask_{{ number }}_{{ w }})
  {% endfor %}
{% endfor %}
GROUP BY small.number

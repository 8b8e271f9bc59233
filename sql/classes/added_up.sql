-- Records and costs of violating classes, one row per node that has any: number; classes; and for
-- each count of records, their sum, that times the size of their class, and their cost.
--
-- A class meets the rows of `priced` with its node's number: one for each column whose values
-- differ in cost at its level there. The first of a node, which may stand for no column, has
-- `counted` 1, the others 0. So one join finds all costs: with one for each column, a database that
-- expects few classes builds its hash tables of these in place of the few prices.
--
-- Holes: rows (violating classes: number, class_size, counts, and the words where costs are),
-- counts (columns), squares (whether the products with the size are needed; else they are 0),
-- prices (a table of place, words and cost; None where no column's values differ), words (how many
-- words there are).
{% macro once() %}
{% if prices is not None %} * priced.counted{% endif %}
{% endmacro %}
SELECT
  small.number,
  {% if prices is None %}
  CAST(COUNT(*) AS BIGINT),
  {% else %}
  CAST(SUM(priced.counted) AS BIGINT),
  {% endif %}
  {% for records in counts %}
  CAST(COALESCE(SUM(small.{{ records }}{{ once() }}), 0) AS BIGINT),
  {% if squares %}
  CAST(COALESCE(SUM(small.{{ records }} * small.class_size{{ once() }}), 0) AS BIGINT),
  {% else %}
  0,
  {% endif %}
  {% if prices is not None %}
  CAST(COALESCE(SUM(small.{{ records }} * price.cost), 0) AS BIGINT),
  {% else %}
  0,
  {% endif %}
  {% endfor %}
FROM {{ rows }} AS small
{% if prices is not None %}
JOIN priced
  ON priced.number = small.number
LEFT JOIN {{ prices }} AS price
  ON price.place = priced.place
  {% for w in range(words) %}
  AND price.word_{{ w }} = (small.word_{{ w }} & priced.mask_{{ w }})
  {% endfor %}
{% endif %}
GROUP BY small.number

-- A row per published record; all records of a combination of values are recoded alike.
--
-- A value is known by its place among those of its column, and a combination by a few keys, each
-- the sum of the places of some columns, multiplied. Combinations are numbered by their keys, and a
-- run of them with one node is known by its first combination.
--
-- Holes: source (the table), parted (per quasi-identifier the relation of its values, rows of these
-- and their places, rows of labels, and their columns), joined (as labels in by_value: the columns
-- and these relations), keys (names, with the relation and the factor of each place), names (of the
-- keys), runs (the first combination and the node of each), nodes (the levels of nodes),
-- number_of_nodes, cells and sorted_by (as in by_value).
{% macro placed() %}
{{ source }} AS record
{{ join_labels(joined) }}
{% endmacro %}
{% macro key_of(places) %}
(
  {% for relation, factor in places %}
  {% if not loop.first %} + {% endif %}{{ relation }}.sqlanon_place * {{ factor }}
  {% endfor %}
)
{% endmacro %}
WITH
{% for values, places, rows, labels in parted %}
{% if labels %}
{{ values }} AS (
  SELECT
    held.value,
    held.sqlanon_place,
    {% for label in labels %}
    labelled.{{ label }},
    {% endfor %}
  FROM {{ places }} AS held
  LEFT JOIN {{ rows }} AS labelled
    ON held.value IS NOT DISTINCT FROM labelled.value
),
{% else %}
{{ values }} AS {{ places }},
{% endif %}
{% endfor %}
sqlanon_runs AS {{ runs }},
sqlanon_units AS (
  SELECT
    {{ listed(names) }},
    CAST(ROW_NUMBER() OVER (ORDER BY {{ listed(names) }}) - 1 AS BIGINT) AS sqlanon_unit
  FROM (
    SELECT DISTINCT
      {% for key, places in keys %}
      {{ key_of(places) }} AS {{ key }},
      {% endfor %}
    FROM {{ placed() }}
  ) AS held
),
-- A combination's run is the last that began. The node rides along with the first combination of a
-- run, below it.
sqlanon_assigned AS (
  SELECT
    {{ listed(names) }},
    sqlanon_latest % {{ number_of_nodes }} AS node
  FROM (
    SELECT
      {% for key in names %}
      sqlanon_units.{{ key }},
      {% endfor %}
      MAX(sqlanon_runs.first * {{ number_of_nodes }} + sqlanon_runs.node) OVER (
        ORDER BY sqlanon_units.sqlanon_unit
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS sqlanon_latest
    FROM sqlanon_units
    LEFT JOIN sqlanon_runs
      ON sqlanon_units.sqlanon_unit = sqlanon_runs.first
  ) AS started
),
sqlanon_nodes AS {{ nodes }}
SELECT
  {{ published_cells(cells) }}
FROM {{ placed() }}
JOIN sqlanon_assigned
  ON
  {% for key, places in keys %}
  {% if not loop.first %} AND {% endif %}
  sqlanon_assigned.{{ key }} = {{ key_of(places) }}
  {% endfor %}
JOIN sqlanon_nodes
  ON sqlanon_assigned.node = sqlanon_nodes.node
{% if sorted_by %}
ORDER BY {{ listed(sorted_by) }}
{% endif %}

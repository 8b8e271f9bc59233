-- A row per published record, whose values alone decide what becomes of it.
--
-- Suppressed classes are worked out from the records themselves, since a list of them would show
-- rare values. All published columns decide the order of the rows, which tells nothing.
--
-- Holes: source (the table), labels (per generalized column its name, a relation, and rows of a
-- value and its labels), cells (per published column its name, its value, and when this gives way
-- to which label), keys (what tells classes apart: a name and the published value), carried (what
-- models look at: a name and the value), people (of the population that classes are compared with
-- the table, its labels and its keys, or nothing), steps (named queries, from sqlanon_details on),
-- last (the one of the suppressed classes, or none), is_kept (whether suppressed records stay),
-- sorted_by (the names of published columns, or none).
{% macro records() %}
{{ source }} AS record
{{ join_labels(labels) }}
{% endmacro %}
{% if last is not None %}
WITH sqlanon_details AS (
  SELECT
    {% for key, value in keys %}
    {{ value }} AS {{ key }},
    {% endfor %}
    {% for column, value in carried %}
    {{ value }} AS {{ column }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ records() }}
  GROUP BY
    {% for key, value in keys %}
    {% if not loop.first %}, {% endif %}{{ value }}
    {% endfor %}
    {% for column, value in carried %}
    , {{ value }}
    {% endfor %}
)
{% for population, labels_there, keys_there in people %}
, sqlanon_population AS (
  SELECT
    {% for key, value in keys_there %}
    {{ value }} AS {{ key }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS people
  FROM {{ population }} AS record
  {{ join_labels(labels_there) }}
  GROUP BY
    {% for key, value in keys_there %}
    {% if not loop.first %}, {% endif %}{{ value }}
    {% endfor %}
)
{% endfor %}
{% for step, query in steps %}
, {{ step }} AS {{ query }}
{% endfor %}
{% endif %}
SELECT
  {{ published_cells(cells) }}
FROM {{ records() }}
{% if last is not None %}
LEFT JOIN {{ last }} AS small
  ON
  {% for key, value in keys %}
  {% if not loop.first %} AND {% endif %}small.{{ key }} IS NOT DISTINCT FROM {{ value }}
  {% endfor %}
{% if not is_kept %}
WHERE small.required IS NULL
{% endif %}
{% endif %}
{% if sorted_by %}
ORDER BY {{ listed(sorted_by) }}
{% endif %}

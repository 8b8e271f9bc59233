-- What repeats in the queries.

-- The sum of an expression, 0 over no rows: sums of BIGINT are wider and arrive as decimals.
{% macro total(expression) %}
CAST(COALESCE(SUM({{ expression }}), 0) AS BIGINT)
{% endmacro %}

-- The number of rows for which a condition holds.
{% macro count_if(condition) %}
CAST(COUNT(CASE WHEN {{ condition }} THEN 1 END) AS BIGINT)
{% endmacro %}

-- Whether rows of two relations agree in some columns, of which NULL is a value like others.
{% macro same(one, other, columns) %}
{% for column in columns %}
{% if not loop.first %} AND {% endif %}
{{ one }}.{{ column }} IS NOT DISTINCT FROM {{ other }}.{{ column }}
{% endfor %}
{% endmacro %}

-- Whether rows of two relations agree in some columns without NULL.
{% macro equal(one, other, columns) %}
{% for column in columns %}
{% if not loop.first %} AND {% endif %}{{ one }}.{{ column }} = {{ other }}.{{ column }}
{% endfor %}
{% endmacro %}

-- A sum of real numbers that is the same in any order of the rows: in whole parts, 2^50 of 1.
{% macro real_sum(expression) %}
CAST(SUM(CAST({{ expression }} * 1125899906842624 AS DECIMAL(38, 0))) AS DOUBLE) / 1125899906842624
{% endmacro %}

-- A whole number, as one of up to 38 digits where its products would not fit a BIGINT.
{% macro exact(count, is_wide) %}
{% if is_wide %}
CAST({{ count }} AS DECIMAL(38, 0))
{% else %}
({{ count }})
{% endif %}
{% endmacro %}

-- The rows of several queries.
{% macro union_all(queries) %}
{% for query in queries %}
{% if not loop.first %}
UNION ALL
{% endif %}
{{ query }}
{% endfor %}
{% endmacro %}

-- A word of a code, to which each column adds what its code map says.
{% macro sum_of_words(maps, w) %}
{% for map in maps %}
{% if not loop.first %} + {% endif %}map_{{ loop.index0 }}.word_{{ w }}
{% endfor %}
{% endmacro %}

-- The code maps of columns, each joined by its value.
{% macro join_words(maps) %}
{% for column, rows, nullable in maps %}
{% set relation = loop.index0 %}
JOIN {{ rows }} AS map_{{ relation }}
  {% if nullable %}
  ON source.{{ column }} IS NOT DISTINCT FROM map_{{ relation }}.value
  {% else %}
  ON source.{{ column }} = map_{{ relation }}.value
  {% endif %}
{% endfor %}
{% endmacro %}

-- What repeats in the queries.

-- The sum of an expression, 0 over no rows: sums of BIGINT are wider and arrive as decimals.
{% macro total(expression) %}
CAST(COALESCE(SUM({{ expression }}), 0) AS BIGINT)
{% endmacro %}

-- The number of rows for which a condition holds.
{% macro count_if(condition) %}
CAST(COUNT(CASE WHEN {{ condition }} THEN 1 END) AS BIGINT)
{% endmacro %}

-- Whether rows of two relations agree in columns, if any, of which NULL is a value like others.
{% macro same(one, other, columns) %}
{% if not columns %}TRUE{% endif %}
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
CAST(SUM(CAST(CAST({{ expression }} AS DOUBLE) * 1125899906842624 AS DECIMAL(38, 0))) AS DOUBLE)
  / 1125899906842624
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

-- A word, to which others add up. A plain 0 in GROUP BY would be the place of a column.
{% macro word_of(parts) %}
{% if not parts %}CAST(0 AS BIGINT){% endif %}
{% for part in parts %}
{% if not loop.first %} + {% endif %}{{ part }}
{% endfor %}
{% endmacro %}

-- What is known of the values of columns, each joined to the source by its value.
{% macro left_join(maps) %}
{% for column, rows, relation, nullable in maps %}
LEFT JOIN {{ rows }} AS {{ relation }}
  {% if nullable %}
  ON source.{{ column }} IS NOT DISTINCT FROM {{ relation }}.value
  {% else %}
  ON source.{{ column }} = {{ relation }}.value
  {% endif %}
{% endfor %}
{% endmacro %}

-- Columns of published records, of which suppressed ones that are kept have a label instead.
{% macro published_cells(cells) %}
{% for column, value, is_suppressed, label in cells %}
{% if label is None %}
{{ value }} AS {{ column }},
{% else %}
CASE WHEN {{ is_suppressed }} THEN {{ label }} ELSE {{ value }} END AS {{ column }},
{% endif %}
{% endfor %}
{% endmacro %}

-- The labels of columns, each joined to the records by its value.
--
-- Every value has labels; outer joins keep engines from collecting the records to look labels up.
{% macro join_labels(labels) %}
{% for column, relation, rows in labels %}
LEFT JOIN {{ rows }} AS {{ relation }}
  ON record.{{ column }} IS NOT DISTINCT FROM {{ relation }}.value
{% endfor %}
{% endmacro %}

-- Whether the bits of a relation's words that tell classes apart are another's words.
{% macro same_words(one, other, masks) %}
{% for bits in masks %}
{% if not loop.first %} AND {% endif %}
({{ one }}.word_{{ loop.index0 }} & {{ bits }}) = {{ other }}.word_{{ loop.index0 }}
{% endfor %}
{% endmacro %}

-- Whether every quasi-identifier of a record is the label of suppressed values; never NULL.
{% macro is_suppressed(columns, label) %}
{% for column in columns %}
{% if not loop.first %} AND {% endif %}
COALESCE(CAST(source.{{ column }} AS VARCHAR) = {{ label }}, FALSE)
{% endfor %}
{% endmacro %}

-- A word of a place, to which relations of the same name and different numbers add, if any.
{% macro sum_of_places(relation, numbers, w) %}
{% if not numbers %}0{% endif %}
{% for number in numbers %}
{% if not loop.first %} + {% endif %}{{ relation }}_{{ number }}.place_{{ w }}
{% endfor %}
{% endmacro %}

-- Leaf texts turned into values of a column's type: value, and what is carried.
--
-- A text that is no value of the type stands for a value that the column cannot hold, and so does
-- one that would only be rounded to a value: such rows are left out.
--
-- Holes: leaves (rows of leaf and what is carried), carried (columns), kind (the type; None where
-- values are texts), wide (a type that values of both forms are compared in, to see whether one was
-- rounded; None where none is), among (a condition on rows; None for all).
{% macro read() %}
TRY_CAST(leaf AS {{ kind }})
{% endmacro %}
{% macro fits() %}
(
    leaf IS NULL
    {% if wide is None %}
    OR {{ read() }} IS NOT NULL
    {% else %}
    OR TRY_CAST(leaf AS {{ wide }}) = TRY_CAST({{ read() }} AS {{ wide }})
    OR CAST({{ read() }} AS VARCHAR) = leaf
    {% endif %}
  )
{% endmacro %}
SELECT
  {% if kind is None %}
  leaf AS value,
  {% else %}
  {{ read() }} AS value,
  {% endif %}
  {% for column in carried %}
  {{ column }},
  {% endfor %}
FROM {{ leaves }}
{% if among is not None and kind is not None %}
WHERE
  {{ among }}
  AND {{ fits() }}
{% elif among is not None %}
WHERE
  {{ among }}
{% elif kind is not None %}
WHERE
  {{ fits() }}
{% endif %}

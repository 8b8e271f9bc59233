-- The rows of a table with those of another that agree in some columns, of which NULL is a value
-- like others: the columns of the first, whose record a row is, and columns of the other. Rows of
-- the other that are alike in these count once.
--
-- Holes: source (a table), columns (of it, and what they are called), entity (whose its records
-- are; None where each is somebody's own), whose (what the column of that is called), other (a
-- table), added (columns of it, and what they are called), on (pairs of what is compared), order
-- (what records are numbered by: engines want an order, and none matters).
SELECT
  one.*,
  {% for column, called in added %}
  other.{{ called }},
  {% endfor %}
FROM (
  SELECT
    {% for column, called in columns %}
    {{ column }} AS {{ called }},
    {% endfor %}
    {% for compared, _ in on %}
    {{ compared }} AS joined_{{ loop.index0 }},
    {% endfor %}
    {% if entity is None %}
    CAST(ROW_NUMBER() OVER (ORDER BY {{ order }}) AS BIGINT) AS {{ whose }}
    {% else %}
    {{ entity }} AS {{ whose }}
    {% endif %}
  FROM {{ source }} AS source
) AS one
JOIN (
  SELECT DISTINCT
    {% for column, called in added %}
    {{ column }} AS {{ called }},
    {% endfor %}
    {% for _, compared in on %}
    {{ compared }} AS joined_{{ loop.index0 }},
    {% endfor %}
  FROM {{ other }} AS source
) AS other
  ON TRUE
  {% for pair in on %}
  AND one.joined_{{ loop.index0 }} IS NOT DISTINCT FROM other.joined_{{ loop.index0 }}
  {% endfor %}

-- The order of a column's type, with the nodes that a rule gives its values.
--
-- Holes: source (the table), subject (its column), nodes (name and label of value of each level).
SELECT
  value,
  CAST(ROW_NUMBER() OVER (ORDER BY value) AS BIGINT) AS rank
  {% for node, label in nodes %}
  , {{ label }} AS {{ node }}
  {% endfor %}
FROM (
  SELECT DISTINCT {{ subject }} AS value FROM {{ source }}
) AS present

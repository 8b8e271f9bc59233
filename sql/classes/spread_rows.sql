-- Rows of the keys, value and size of one sensitive attribute; a person with several records of a
-- class and value counts once, and is named.
--
-- Holes: source (rows of the keys and values), keys, attribute (the column of its values, or an
-- expression of them), size (the records of a row), entity (the column of persons; None where
-- records are counted).
{% if entity is None %}
SELECT
  {% for key in keys %}
  {{ key }},
  {% endfor %}
  {{ attribute }} AS value,
  {{ size }} AS size
FROM {{ source }} AS source
{% else %}
SELECT
  {% for key in keys %}
  {{ key }},
  {% endfor %}
  value,
  CAST(1 AS BIGINT) AS size,
  entity
FROM (
  SELECT DISTINCT
    {% for key in keys %}
    {{ key }},
    {% endfor %}
    {{ attribute }} AS value,
    {{ entity }} AS entity
  FROM {{ source }} AS source
) AS persons
{% endif %}

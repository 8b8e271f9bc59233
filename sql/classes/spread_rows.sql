-- Rows of the keys, value and size of one sensitive attribute; a person with several records of a
-- class and value counts once.
--
-- Holes: details (rows of the keys, values, size, and the person where there is any), keys,
-- attribute (the column of its values), entity (whether persons are counted).
{% if entity %}
SELECT
  {% for key in keys %}
  {{ key }},
  {% endfor %}
  value,
  CAST(1 AS BIGINT) AS size
FROM (
  SELECT DISTINCT
    {% for key in keys %}
    {{ key }},
    {% endfor %}
    {{ attribute }} AS value,
    entity
  FROM {{ details }}
) AS persons
{% else %}
SELECT
  {% for key in keys %}
  {{ key }},
  {% endfor %}
  {{ attribute }} AS value,
  size
FROM {{ details }}
{% endif %}

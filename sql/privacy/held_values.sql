-- Rows of value and size of a column: its records, or persons, each once for each value.
--
-- Holes: source (a table), attribute (its column), entity (the column that says whose a record is;
-- None where records are counted).
{% if entity is None %}
SELECT
  {{ attribute }} AS value,
  CAST(COUNT(*) AS BIGINT) AS size
FROM {{ source }} AS source
GROUP BY {{ attribute }}
{% else %}
SELECT
  value,
  CAST(1 AS BIGINT) AS size
FROM (
  SELECT DISTINCT
    {{ attribute }} AS value,
    {{ entity }} AS entity
  FROM {{ source }} AS source
) AS persons
{% endif %}

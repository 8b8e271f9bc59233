-- One row: how many texts stand in no cell of a table, not even as a part of one.
--
-- Holes: texts (rows of text), source (the table), columns (its columns, at least one).
SELECT
  CAST(COUNT(*) AS BIGINT)
FROM {{ texts }} AS texts
WHERE NOT EXISTS (
  SELECT 1
  FROM {{ source }} AS source
  WHERE
    {% for column in columns %}
    {% if not loop.first %} OR {% endif %}
    CONTAINS(CAST(source.{{ column }} AS VARCHAR), texts.text)
    {% endfor %}
)

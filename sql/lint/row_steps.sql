-- One row: per set of columns the neighbouring rows that descend by it, and those that differ.
--
-- NULL comes last, as where rows are sorted. Rows of a table and of a file have an order in DuckDB.
--
-- Holes: source (a table), sets (of columns, none empty).
WITH placed AS (
  SELECT
    {% for columns in sets %}
    ROW({{ listed(columns) }}) AS cells_{{ loop.index0 }},
    LAG(ROW({{ listed(columns) }})) OVER () AS before_{{ loop.index0 }},
    {% endfor %}
  FROM {{ source }}
)
SELECT
  {% for columns in sets %}
  CAST(COUNT(CASE WHEN cells_{{ loop.index0 }} < before_{{ loop.index0 }} THEN 1 END) AS BIGINT),
  CAST(COUNT(CASE WHEN cells_{{ loop.index0 }} <> before_{{ loop.index0 }} THEN 1 END) AS BIGINT),
  {% endfor %}
FROM placed

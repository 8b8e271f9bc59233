-- The rows of by_value, sorted by whole numbers: the places of labels among all of their column.
--
-- Labels come back after the sort, from a list that a place indexes, which keeps the order for any
-- number of threads.
--
-- Holes: places (per column of few labels the relation of their places, and rows of a value and its
-- label), rows (those of by_value, with places), cells (as there, of the sorted rows).
WITH
{% for relation, labels in places %}
{% if not loop.first %}, {% endif %}{{ relation }} AS (
  SELECT
    value,
    label_1,
    -- DuckDB sorts keys of up to 32 bytes several times as fast: ten columns of two bytes and NULL.
    CAST(DENSE_RANK() OVER (ORDER BY label_1) AS SMALLINT) AS place
  FROM {{ labels }} AS labelled
)
{% endfor %}
SELECT
  {{ published_cells(cells) }}
FROM {{ rows }} AS sorted
{% for relation, labels in places %}
CROSS JOIN (
  SELECT ARRAY_AGG(label_1 ORDER BY place) AS labels
  FROM (
    SELECT DISTINCT
      label_1,
      place
    FROM {{ relation }}
  ) AS held
) AS {{ relation }}
{% endfor %}

-- A query with the nodes that its parameters say: each column of them is a list.
--
-- Holes: columns (of the nodes), query (which looks at the relation `nodes`).
WITH nodes AS (
  SELECT
    {% for column in columns %}
    UNNEST(CAST(? AS BIGINT[])) AS {{ column }},
    {% endfor %}
)
{{ query }}

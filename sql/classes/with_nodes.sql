-- A query of nodes with the relations that its parameters say: each column of them is a list.
--
-- Holes: relations (names and columns: `nodes`, with a row for each; `priced`, with a row for each
-- column of each node whose values differ in cost there), query (which looks at them).
WITH
{% for relation, columns in relations %}
{% if not loop.first %}, {% endif %}{{ relation }} AS (
  SELECT
    {% for column in columns %}
    UNNEST(CAST(? AS BIGINT[])) AS {{ column }},
    {% endfor %}
)
{% endfor %}
{{ query }}

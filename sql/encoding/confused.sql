-- Per text column whether it takes a letter for another of its case or accent, in one row. A
-- column's collation is not in its type; what it does to a letter that is added to it shows it.
--
-- Holes: source (a table), columns.
SELECT
  {% for column in columns %}
  {{ column }} = 'A' OR {{ column }} = 'á',
  {% endfor %}
FROM (
  SELECT {{ listed(columns) }}
  FROM {{ source }}
  WHERE FALSE
  UNION ALL
  SELECT
    {% for column in columns %}
    'a',
    {% endfor %}
) AS probe

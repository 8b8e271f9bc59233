-- All records of one of so many parts of the values of a column, as hashes.
--
-- Those of the column as value, which also say which part it is in, and NULL is in none; those of
-- the columns beside it, of which NULL is a value, by their place.
--
-- Holes: source (the table), subject (the column), beside (columns), parts (their number).
SELECT
  HASH({{ subject }}) AS value
  {% for other in beside %}
  , HASH({{ other }}) AS column_{{ loop.index0 }}
  {% endfor %}
FROM {{ source }}
WHERE {{ subject }} IS NOT NULL AND HASH({{ subject }}) % {{ parts }} = 0

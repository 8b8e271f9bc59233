-- Rows of the words, value and size of one attribute; a person counts once for each class and
-- value.
--
-- Holes: rows (of the words, values and entity), words, value.
SELECT
  {{ listed(words) }},
  value,
  1 AS size
FROM (
  SELECT DISTINCT
    {{ listed(words) }},
    {{ value }} AS value,
    entity
  FROM {{ rows }}
) AS persons

-- A row per combination of a table or its population: its words, size (records of the table), and
-- people (records of the population).
--
-- Holes: encoded (words and size of the table), people (those of the population), words.
SELECT
  {{ listed(words) }},
  {{ total("size") }} AS size,
  {{ total("people") }} AS people
FROM (
  SELECT
    {{ listed(words) }},
    size,
    0 AS people
  FROM {{ encoded }}
  UNION ALL
  SELECT
    {{ listed(words) }},
    0 AS size,
    size AS people
  FROM {{ people }}
) AS parts
GROUP BY {{ listed(words) }}

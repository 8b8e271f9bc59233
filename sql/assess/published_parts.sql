-- A row per row of the encoded original: its words, its records if all those of its place are
-- published, and else the share of them that is.
--
-- Holes: rows (words, the words of places, and size), released (published records per place), held
-- (records of the original per place), places (the names of the words of places), words (those of
-- the words).
SELECT
  {% for word in words %}
  source.{{ word }},
  {% endfor %}
  CASE WHEN released.released = held.held THEN source.size ELSE 0 END AS whole,
  CASE
    WHEN released.released = held.held
    THEN CAST(0 AS DOUBLE)
    ELSE CAST(source.size AS DOUBLE) * released.released / CAST(held.held AS DOUBLE)
  END AS part
FROM {{ rows }} AS source
JOIN {{ released }} AS released
  ON {{ equal("source", "released", places) }}
JOIN {{ held }} AS held
  ON {{ equal("source", "held", places) }}

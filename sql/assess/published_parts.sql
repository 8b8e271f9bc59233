-- A row per row of the encoded original: its words, its records if all those of its place are
-- published, and else the share of them that is.
--
-- Holes: rows (words, the words of places, and size), released (published records per place),
-- original (records of the original per place), places (the names of the words of places), words
-- (those of the words).
SELECT
  {% for word in words %}
  source.{{ word }},
  {% endfor %}
  CASE WHEN released.released = original.held THEN source.size ELSE 0 END AS whole,
  CASE
    WHEN released.released = original.held
    THEN CAST(0 AS DOUBLE)
    ELSE CAST(source.size AS DOUBLE) * released.released / CAST(original.held AS DOUBLE)
  END AS part
FROM {{ rows }} AS source
JOIN {{ released }} AS released
  ON {{ equal("source", "released", places) }}
JOIN {{ original }} AS original
  ON {{ equal("source", "original", places) }}

-- The records of a table as codes: the words, and what is carried; or, where they are sized, a row
-- per distinct combination of these, and its size. A record with a value that no map has has no
-- code.
--
-- The joins are outer ones, which DuckDB takes as they stand: looking for a better order of more
-- than ten takes it longer than they do.
--
-- Holes: source (a table), maps (per column its name, rows of its values and words, the relation
-- that these get, and whether it holds NULL, which plain equality would lose), words (per word its
-- name, and the words that add up to it), carried (names, and what they are), ranks (per ranked
-- column the same of values and ranks as in maps), is_sized.
SELECT
  {% for word, parts in words %}
  {{ word_of(parts) }} AS {{ word }},
  {% endfor %}
  {% for own, value in carried %}
  {{ value }} AS {{ own }},
  {% endfor %}
  {% if is_sized %}
  CAST(COUNT(*) AS BIGINT) AS size,
  {% endif %}
FROM {{ source }} AS source
{{ left_join(maps) }}
{{ left_join(ranks) }}
{% if is_sized %}
GROUP BY
  {% for word, parts in words %}
  {% if not loop.first %}, {% endif %}{{ word_of(parts) }}
  {% endfor %}
  {% for own, value in carried %}
  , {{ value }}
  {% endfor %}
{% endif %}

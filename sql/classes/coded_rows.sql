-- The records of a table as codes: the words, and what is carried.
--
-- Holes: source (a table), maps (per quasi-identifier its column, rows of its values and words, and
-- whether it holds NULL), words (how many words there are), carried (names and columns), ranks (per
-- sensitive attribute its column, rows of its values and ranks, and the relation that these get).
SELECT
  {% for w in range(words) %}
  {{ sum_of_words(maps, w) }} AS word_{{ w }},
  {% endfor %}
  {% for column, rows, relation in ranks %}
  {{ relation }}.rank AS {{ relation }},
  {% endfor %}
  {% for name, column in carried %}
  source.{{ column }} AS {{ name }},
  {% endfor %}
FROM {{ source }} AS source
{{ join_words(maps) }}
{% for column, rows, relation in ranks %}
LEFT JOIN {{ rows }} AS {{ relation }}
  ON source.{{ column }} IS NOT DISTINCT FROM {{ relation }}.value
{% endfor %}

-- A row per row of the encoded original: its words, those of its place, which are sums of those of
-- its values, and its size. A row with a value that has no place has none.
--
-- Holes: encoded (words and size), targets (attribute, the words of a leaf and of its place),
-- columns (per column its number and its bits of each word), words (the numbers of those words that
-- have bits, with the numbers of the columns that have them).
SELECT
  {% for w, numbers in words %}
  source.word_{{ w }},
  {% endfor %}
  {% for w, numbers in words %}
  {{ sum_of_places("target", numbers, w) }} AS place_{{ w }},
  {% endfor %}
  source.size
FROM {{ encoded }} AS source
{% for number, masks in columns %}
LEFT JOIN {{ targets }} AS target_{{ number }}
  ON target_{{ number }}.attribute = {{ number }}
  {% for bits in masks %}
  AND (source.word_{{ loop.index0 }} & {{ bits }}) = target_{{ number }}.word_{{ loop.index0 }}
  {% endfor %}
{% endfor %}

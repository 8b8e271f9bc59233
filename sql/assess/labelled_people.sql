-- A row per combination of labels that people of a population have: their numbers, and people.
--
-- Holes: encoded (words and size), covers (attribute, the words of a value, and a place of it),
-- columns (per column its number and its bits of each word), labels (what the numbers are called).
SELECT
  {% for number, masks in columns %}
  cover_{{ number }}.place AS label_{{ number }},
  {% endfor %}
  {{ total("source.size") }} AS people
FROM {{ encoded }} AS source
{% for number, masks in columns %}
JOIN {{ covers }} AS cover_{{ number }}
  ON cover_{{ number }}.attribute = {{ number }}
  {% for bits in masks %}
  AND (source.word_{{ loop.index0 }} & {{ bits }}) = cover_{{ number }}.word_{{ loop.index0 }}
  {% endfor %}
{% endfor %}
{% if labels %}
GROUP BY {{ listed(labels) }}
{% endif %}

-- A row per combination of labels that people of a population have: their numbers, and people.
--
-- Holes: encoded (words and size), targets (attribute, the words of a value, number of a label),
-- columns (per column its number and its bits of each word), labels (what the numbers are called).
SELECT
  {% for number, masks in columns %}
  target_{{ number }}.number AS label_{{ number }},
  {% endfor %}
  {{ total("source.size") }} AS people
FROM {{ encoded }} AS source
{% for number, masks in columns %}
JOIN {{ targets }} AS target_{{ number }}
  ON target_{{ number }}.attribute = {{ number }}
  {% for bits in masks %}
  AND (source.word_{{ loop.index0 }} & {{ bits }}) = target_{{ number }}.word_{{ loop.index0 }}
  {% endfor %}
{% endfor %}
{% if labels %}
GROUP BY {{ listed(labels) }}
{% endif %}

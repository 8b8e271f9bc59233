-- A row per leaf of each column: the column's number, published records of places that are
-- published whole, those of others, and the words of the leaf.
--
-- Holes: parts (words, whole and part), columns (per column its number and its bits of each word).
{% for number, masks in columns %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ number }},
  {{ total("whole") }},
  SUM(CAST(part AS DOUBLE)),
  {% for bits in masks %}
  word_{{ loop.index0 }} & {{ bits }},
  {% endfor %}
FROM {{ parts }}
GROUP BY ALL
{% endfor %}

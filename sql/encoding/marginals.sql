-- Records per value of columns: number of the column, words, records.
--
-- Holes: encoded (words and size), columns (per column its number, its bits of each word, and the
-- words that these are set in: a word without bits is no key, and nine of ten are none where
-- columns are many).
{% for number, masks, keys in columns %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ number }},
  {% for bits in masks %}
  {% if bits %}
  word_{{ loop.index0 }} & {{ bits }},
  {% else %}
  0,
  {% endif %}
  {% endfor %}
  {{ total("size") }}
FROM {{ encoded }}
GROUP BY
  {% for w, bits in keys %}
  {% if not loop.first %}, {% endif %}word_{{ w }} & {{ bits }}
  {% endfor %}
{% endfor %}

-- As class_rows, of nodes whose masks stand in the text, a grouping for each.
--
-- A large set is better counted so: from literals the database foresees how far the keys of its
-- groups range, a word without bits is no key, and the groupings run side by side.
--
-- Holes: source (a frequency set), nodes (per node its masks, and the words that these tell apart
-- with their bits), carried, by, sums and below as in class_rows.
{% for masks, keys in nodes %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ loop.index0 }} AS number,
  {% if carried %}
  {% for bits in masks %}
  {% if bits %}
  source.word_{{ loop.index0 }} & {{ bits }} AS word_{{ loop.index0 }},
  {% else %}
  0 AS word_{{ loop.index0 }},
  {% endif %}
  {% endfor %}
  {% endif %}
  {% for name, column in by %}
  source.{{ column }} AS {{ name }},
  {% endfor %}
  {% for name, column in sums %}
  CAST(SUM(source.{{ column }}) AS BIGINT) AS {{ name }},
  {% endfor %}
FROM {{ source }} AS source
GROUP BY
  {% for w, bits in keys %}
  {% if not loop.first %}, {% endif %}source.word_{{ w }} & {{ bits }}
  {% endfor %}
  {% for name, column in by %}
  , source.{{ column }}
  {% endfor %}
{% if below is not None %}
HAVING SUM(source.size) < {{ below }}
{% endif %}
{% endfor %}

-- Records of parts by one column's code and what is carried, in the order of parts.
--
-- Holes: state (the table of combinations), bits (per word that the column has bits in its number
-- and these), carried, parts (the parts to count; None for all).
SELECT
  part,
  {% for w, mask in bits %}
  word_{{ w }} & {{ mask }} AS word_{{ w }},
  {% endfor %}
  {% for column in carried %}
  {{ column }},
  {% endfor %}
  {{ total("size") }} AS size
FROM {{ state }}
{% if parts is not None %}
WHERE part IN ({{ listed(parts) }})
{% endif %}
GROUP BY ALL
ORDER BY part

-- The table of combinations, with the number of each in the order of its values (unit), and that of
-- its part, by some bits of its code.
--
-- Holes: coded (words, keys, what is carried, and size), words, carried, keys (the columns that
-- tell the places of values), bits (per word that tells parts apart its number and bits).
SELECT
  {{ listed(words) }},
  {% for column in carried %}
  {{ column }},
  {% endfor %}
  size,
  CAST(DENSE_RANK() OVER (ORDER BY {{ listed(keys) }}) - 1 AS BIGINT) AS unit,
  {% if bits %}
  CAST(DENSE_RANK() OVER (
    ORDER BY
      {% for w, mask in bits %}
      {% if not loop.first %}, {% endif %}word_{{ w }} & {{ mask }}
      {% endfor %}
  ) - 1 AS BIGINT) AS part
  {% else %}
  CAST(0 AS BIGINT) AS part
  {% endif %}
FROM {{ coded }}

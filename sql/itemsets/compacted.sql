-- The members of the itemset that has no node yet: code, every, some and size.
--
-- Holes: encoded (words and size), item_values (per attribute and leaf its packed code, and its
-- every and some), masks (per attribute that tells itemsets apart its number, and the words of the
-- packed code that it has bits in with these), words (of a code).
{% macro added(label, w) %}
CAST(
  {% if masks %}
  {% for attribute, bits in masks %}
  {% if not loop.first %} + {% endif %}value_{{ attribute }}.{{ label }}_{{ w }}
  {% endfor %}
  {% else %}
  0
  {% endif %}
AS BIGINT)
{% endmacro %}
SELECT
  {% for w in range(words) %}
  {{ added("every", w) }} AS code_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  {{ added("every", w) }} AS every_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  {{ added("some", w) }} AS some_{{ w }},
  {% endfor %}
  {{ total("source.size") }} AS size
FROM {{ encoded }} AS source
{% for attribute, own in masks %}
JOIN {{ item_values }} AS value_{{ attribute }}
  ON value_{{ attribute }}.attribute = {{ attribute }}
  {% for w, bits in own %}
  AND (source.word_{{ w }} & {{ bits }}) = value_{{ attribute }}.word_{{ w }}
  {% endfor %}
{% endfor %}
GROUP BY ALL

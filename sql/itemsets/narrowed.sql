-- Rows of which every and some keep only the field below their node of an attribute. An attribute
-- with its deepest nodes disagrees on purpose.
--
-- Holes: rows (of code, every, some, and the count), words (of a code), fields (per word the bits
-- that are kept, and those of `some` that are set), count.
SELECT
  {% for w in range(words) %}
  narrowed.code_{{ w }},
  {% endfor %}
  {% for bits, highest in fields %}
  narrowed.every_{{ loop.index0 }} & {{ bits }} AS every_{{ loop.index0 }},
  {% endfor %}
  {% for bits, highest in fields %}
  (narrowed.some_{{ loop.index0 }} & {{ bits }}) | {{ highest }} AS some_{{ loop.index0 }},
  {% endfor %}
  narrowed.{{ count }}
FROM {{ rows }} AS narrowed

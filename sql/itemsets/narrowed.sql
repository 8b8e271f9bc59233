-- Rows of which every and some keep only the field below their node of an attribute. An attribute
-- with its deepest nodes disagrees on purpose.
--
-- Holes: rows (of code, every, some, and the count), words (of a code), fields (per word the bits
-- that are kept, None for all, and the bit of `some` that is set, None for none), count.
SELECT
  {% for w in range(words) %}
  narrowed.code_{{ w }},
  {% endfor %}
  {% for bits, highest in fields %}
  {% if bits is None %}
  narrowed.every_{{ loop.index0 }},
  {% else %}
  narrowed.every_{{ loop.index0 }} & {{ bits }} AS every_{{ loop.index0 }},
  {% endif %}
  {% endfor %}
  {% for bits, highest in fields %}
  {% if bits is None %}
  narrowed.some_{{ loop.index0 }},
  {% elif highest is None %}
  narrowed.some_{{ loop.index0 }} & {{ bits }} AS some_{{ loop.index0 }},
  {% else %}
  (narrowed.some_{{ loop.index0 }} & {{ bits }}) | {{ highest }} AS some_{{ loop.index0 }},
  {% endif %}
  {% endfor %}
  narrowed.{{ count }}
FROM {{ rows }} AS narrowed

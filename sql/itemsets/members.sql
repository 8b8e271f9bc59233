-- The members of the itemsets that have a node of one more attribute at a depth: code, every, some
-- and size. Members of the deepest nodes stay different; of others, those that only differed in
-- this attribute become one.
--
-- Holes: itemsets, members, words, above and prefix as in candidates; is_deepest (whether the nodes
-- are the deepest), kept (per word the bits of a member of such an itemset).
SELECT
  {% for bits in kept %}
  {% if is_deepest %}
  member.code_{{ loop.index0 }},
  {% else %}
  member.code_{{ loop.index0 }} & {{ bits }} AS code_{{ loop.index0 }},
  {% endif %}
  {% endfor %}
  {% for w in range(words) %}
  {% if is_deepest %}
  member.every_{{ w }},
  {% else %}
  BIT_AND(member.every_{{ w }}) AS every_{{ w }},
  {% endif %}
  {% endfor %}
  {% for w in range(words) %}
  {% if is_deepest %}
  member.some_{{ w }},
  {% else %}
  BIT_OR(member.some_{{ w }}) AS some_{{ w }},
  {% endif %}
  {% endfor %}
  {% if is_deepest %}
  member.size
  {% else %}
  {{ total("member.size") }} AS size
  {% endif %}
FROM {{ members }} AS member
JOIN {{ itemsets }} AS itemset
  ON
  {% for bits in prefix %}
  {% if not loop.first %} AND {% endif %}
  itemset.code_{{ loop.index0 }} = (member.code_{{ loop.index0 }} & {{ bits }})
  {% endfor %}
{% if above %}
WHERE
  {% for w, bits in above %}
  {% if not loop.first %} AND {% endif %}(member.code_{{ w }} & {{ bits }}) <> 0
  {% endfor %}
{% endif %}
{% if not is_deepest %}
GROUP BY
  {% for bits in kept %}
  {% if not loop.first %}, {% endif %}member.code_{{ loop.index0 }} & {{ bits }}
  {% endfor %}
{% endif %}

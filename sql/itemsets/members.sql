-- The members of the itemsets that have a node of one more attribute at a depth: code, every, some
-- and size. Members of the deepest nodes stay different; of others, those that only differed in
-- this attribute become one.
--
-- Holes: itemsets, members, words, above and prefix as in candidates; is_deepest (whether the nodes
-- are the deepest), kept (per word the bits of a member of such an itemset).
SELECT
  {% if is_deepest %}
  member.*
  {% else %}
  {% for bits in kept %}
  member.code_{{ loop.index0 }} & {{ bits }} AS code_{{ loop.index0 }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_AND(member.every_{{ w }}) AS every_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_OR(member.some_{{ w }}) AS some_{{ w }},
  {% endfor %}
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
GROUP BY ALL
{% endif %}

-- The itemsets with a node of one more attribute at a depth of its hierarchy that have k records:
-- the code, what all (every) and any (some) of the records have set, and support.
--
-- Holes: itemsets (so far), members (their records; those alike are one row of their size), words
-- (of a code), is_top (whether the node is the root, with which an itemset keeps its records, so
-- that nothing is counted again), is_alone (whether it is one of the deepest nodes of the last
-- attribute, whose members are one row already), above (per word that tells the nodes of the depth
-- from their siblings its number and bits), prefix (per word the bits of an itemset with such a
-- node), k.
{% if is_top %}
SELECT *
FROM {{ itemsets }} AS prefix
{% elif is_alone %}
SELECT
  {% for w in range(words) %}
  member.code_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  member.every_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  member.some_{{ w }},
  {% endfor %}
  member.size AS support
FROM {{ members }} AS member
WHERE
  {% for w, bits in above %}
  (member.code_{{ w }} & {{ bits }}) <> 0 AND
  {% endfor %}
  member.size >= {{ k }}
{% else %}
SELECT
  {% for bits in prefix %}
  member.code_{{ loop.index0 }} & {{ bits }} AS code_{{ loop.index0 }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_AND(member.every_{{ w }}) AS every_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_OR(member.some_{{ w }}) AS some_{{ w }},
  {% endfor %}
  {{ total("member.size") }} AS support
FROM {{ members }} AS member
{% if above %}
WHERE
  {% for w, bits in above %}
  {% if not loop.first %} AND {% endif %}(member.code_{{ w }} & {{ bits }}) <> 0
  {% endfor %}
{% endif %}
GROUP BY ALL
HAVING SUM(member.size) >= {{ k }}
{% endif %}

-- The itemset that has no node yet: code, every, some and support; none where the table has less
-- than k records.
--
-- Holes: members, k, words (of a code).
SELECT
  {% for w in range(words) %}
  CAST(0 AS BIGINT) AS code_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_AND(every_{{ w }}) AS every_{{ w }},
  {% endfor %}
  {% for w in range(words) %}
  BIT_OR(some_{{ w }}) AS some_{{ w }},
  {% endfor %}
  {{ total("size") }} AS support
FROM {{ members }} AS member
HAVING SUM(size) >= {{ k }}

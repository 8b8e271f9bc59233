-- The ranks of one order with the nodes of another.
--
-- Holes: ranks (an order: value and rank), tree (value and nodes), nodes (those that are taken).
SELECT
  ranked.value,
  ranked.rank
  {% for node in nodes %}
  , tree.{{ node }}
  {% endfor %}
FROM {{ ranks }} AS ranked
JOIN {{ tree }} AS tree
  ON ranked.value IS NOT DISTINCT FROM tree.value

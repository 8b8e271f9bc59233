-- The classes of the nodes of a query, one row each: number of the node, what is carried, and sums.
--
-- Nodes are rows of a relation, or their masks stand in the text, a grouping for each. A large set
-- is better counted so: from literals the database foresees how far the keys of its groups range, a
-- word without bits is no key, and the groupings run side by side.
--
-- Holes: source (a frequency set), parts (per grouping the number of the node, the words of its
-- classes, and the keys that tell these apart), nodes (rows of the nodes: number, and per word its
-- mask; None for literals), carried (whether the words are selected), by (names and columns whose
-- values are told apart within a class, too), sums (names and columns that are added up), below
-- (only classes of fewer records count; None for all).
{% for number, words, keys in parts %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ number }} AS number,
  {% if carried %}
  {% for code in words %}
  {{ code }} AS word_{{ loop.index0 }},
  {% endfor %}
  {% endif %}
  {% for name, column in by %}
  source.{{ column }} AS {{ name }},
  {% endfor %}
  {% for name, column in sums %}
  CAST(SUM(source.{{ column }}) AS BIGINT) AS {{ name }},
  {% endfor %}
FROM {{ source }} AS source
{% if nodes is not None %}
CROSS JOIN {{ nodes }}
{% endif %}
GROUP BY
  {{ listed(keys) }}
  {% for name, column in by %}
  , source.{{ column }}
  {% endfor %}
{% if below is not None %}
HAVING SUM(source.size) < {{ below }}
{% endif %}
{% endfor %}

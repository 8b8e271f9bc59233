-- The classes of the nodes of a query, one row each: number of the node, what is carried, and sums.
--
-- Holes: source (a frequency set), nodes (rows of the nodes: number, and per word its mask), words
-- (how many words there are), carried (whether the words are selected), by (names and columns whose
-- values are told apart within a class, too), sums (names and columns that are added up), below
-- (only classes of fewer records count; None for all).
SELECT
  nodes.number,
  {% if carried %}
  {% for w in range(words) %}
  source.word_{{ w }} & nodes.mask_{{ w }} AS word_{{ w }},
  {% endfor %}
  {% endif %}
  {% for name, column in by %}
  source.{{ column }} AS {{ name }},
  {% endfor %}
  {% for name, column in sums %}
  CAST(SUM(source.{{ column }}) AS BIGINT) AS {{ name }},
  {% endfor %}
FROM {{ source }} AS source
CROSS JOIN {{ nodes }} AS nodes
GROUP BY
  nodes.number
  {% for w in range(words) %}
  , source.word_{{ w }} & nodes.mask_{{ w }}
  {% endfor %}
  {% for name, column in by %}
  , source.{{ column }}
  {% endfor %}
{% if below is not None %}
HAVING SUM(source.size) < {{ below }}
{% endif %}

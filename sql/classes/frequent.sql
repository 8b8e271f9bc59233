-- The number of each pattern of a query that has an instance of k records, or persons.
--
-- Holes: source (a frequency set), words (how many words there are), parts (the nodes of the query
-- are looked at in so many parts), count (records or persons of an instance), k.
SELECT DISTINCT number
FROM (
  {% for part in range(parts) %}
  {% if not loop.first %}
  UNION ALL
  {% endif %}
  SELECT nodes.number
  FROM {{ source }} AS source
  CROSS JOIN (
    SELECT *
    FROM nodes
    {% if parts != 1 %}
    WHERE number % {{ parts }} = {{ part }}
    {% endif %}
  ) AS nodes
  GROUP BY
    nodes.number
    {% for w in range(words) %}
    , source.word_{{ w }} & nodes.mask_{{ w }}
    {% endfor %}
  HAVING {{ count }} >= {{ k }}
  {% endfor %}
) AS found

-- Classes with a combination of some columns that fewer than k records share.
--
-- Holes: rows (of the keys and size), keys, sets (per set of columns its number and a figure for
-- each key), parts (per key what it tells of a set, over the relations classes and sets), nullable
-- (whether a part may be NULL, a value like others), k, node (whether the number of the node, 0,
-- and class_size are asked for, as in a search).
WITH classes AS (
  SELECT
    {{ listed(keys) }},
    {{ total("size") }} AS class_size
  FROM {{ rows }} AS members
  GROUP BY {{ listed(keys) }}
),
sets AS (
  SELECT *
  FROM (
    VALUES
      {% for own in sets %}
      {% if not loop.first %}, {% endif %}({{ listed(own) }})
      {% endfor %}
  ) AS listed_sets(number{% for key in keys %}, mask_{{ loop.index0 }}{% endfor %})
),
combined AS (
  SELECT
    sets.number AS set_number,
    {% for part in parts %}
    {{ part }} AS part_{{ loop.index0 }},
    {% endfor %}
    classes.*
  FROM classes
  CROSS JOIN sets
),
rare AS (
  SELECT
    set_number,
    {% for part in parts %}
    {% if not loop.first %}, {% endif %}part_{{ loop.index0 }}
    {% endfor %}
  FROM combined
  GROUP BY
    set_number
    {% for part in parts %}
    , part_{{ loop.index0 }}
    {% endfor %}
  HAVING SUM(class_size) < {{ k }}
)
SELECT
  {% if node %}
  CAST(0 AS BIGINT) AS number,
  {% endif %}
  {% for key in keys %}
  combined.{{ key }},
  {% endfor %}
  {% if node %}
  MAX(combined.class_size) AS class_size,
  {% endif %}
  CAST(0 AS BIGINT) AS required
FROM combined
JOIN rare
  ON combined.set_number = rare.set_number
  {% for part in parts %}
  {% if nullable %}
  AND combined.part_{{ loop.index0 }} IS NOT DISTINCT FROM rare.part_{{ loop.index0 }}
  {% else %}
  AND combined.part_{{ loop.index0 }} = rare.part_{{ loop.index0 }}
  {% endif %}
  {% endfor %}
GROUP BY
  {% for key in keys %}
  {% if not loop.first %}, {% endif %}combined.{{ key }}
  {% endfor %}

-- Classes with a combination of some columns that fewer than k records share, and class_size.
--
-- Holes: rows (of the keys and size), keys, sets (per set of columns its number and a figure for
-- each key), parts (what it tells of a set, over the relations classes and sets, and its name: the
-- number of the set, and what it keeps of each key), combination (their names), k.
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
      {% for figures in sets %}
      {% if not loop.first %}, {% endif %}({{ listed(figures) }})
      {% endfor %}
  ) AS listed_sets(number{% for key in keys %}, mask_{{ loop.index0 }}{% endfor %})
),
combined AS (
  SELECT
    {% for part, name in parts %}
    {{ part }} AS {{ name }},
    {% endfor %}
    classes.*
  FROM classes
  CROSS JOIN sets
),
rare AS (
  SELECT {{ listed(combination) }}
  FROM combined
  GROUP BY {{ listed(combination) }}
  HAVING SUM(class_size) < {{ k }}
)
SELECT
  {% for key in keys %}
  combined.{{ key }},
  {% endfor %}
  MAX(combined.class_size) AS class_size,
  CAST(0 AS BIGINT) AS required
FROM combined
JOIN rare
  ON {{ same("combined", "rare", combination) }}
GROUP BY
  {% for key in keys %}
  {% if not loop.first %}, {% endif %}combined.{{ key }}
  {% endfor %}

-- The classes of a frequency set by some keys: these, class_size, where persons are counted one
-- person of each class, and where there are subsets of columns the number of theirs. A person
-- counts once in a class.
--
-- Holes: source (the frequency set, with a row per class and person where persons are counted),
-- keys (what tells classes apart), masks (per subset its masks of the words; None for no subsets),
-- person (the column that says whose record a row is; None where records are counted).
SELECT
  {% if masks is not None %}
  subset,
  {% endif %}
  {% for key in keys %}
  {{ key }} AS key_{{ loop.index0 }},
  {% endfor %}
  {% if person is None %}
  {{ total("size") }} AS class_size,
  {% else %}
  CAST(COUNT(DISTINCT {{ person }}) AS BIGINT) AS class_size,
  MIN({{ person }}) AS person,
  {% endif %}
FROM {{ source }}
{% if masks is not None %}
CROSS JOIN (
  VALUES
    {% for own in masks %}
    {% if not loop.first %}, {% endif %}({{ loop.index0 }}, {{ listed(own) }})
    {% endfor %}
) AS subsets(subset{% for bits in masks[0] %}, mask_{{ loop.index0 }}{% endfor %})
{% endif %}
GROUP BY ALL

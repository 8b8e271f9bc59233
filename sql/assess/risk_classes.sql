-- The classes of a frequency set by some keys: class_size, where persons are counted the only
-- person of a class of one, and where there are subsets of columns the number of theirs. A person
-- counts once in a class.
--
-- Holes: source (the frequency set, with a row per class and person where persons are counted),
-- keys (what tells classes apart), masks (per subset its masks of the words; None for no subsets),
-- person (the column that says whose record a row is; None where records are counted).
{% if person is None %}
SELECT
  {% if masks is not None %}
  subset,
  {% endif %}
  {{ total("size") }} AS class_size
{% else %}
SELECT
  {% if masks is not None %}
  subset,
  {% endif %}
  CAST(COUNT(*) AS BIGINT) AS class_size,
  MIN(person) AS person
FROM (
  SELECT DISTINCT
    {% if masks is not None %}
    subset,
    {% endif %}
    {% for key in keys %}
    {{ key }} AS key_{{ loop.index0 }},
    {% endfor %}
    {{ person }} AS person
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
{% if person is not None %}
) AS members
{% endif %}
{% if keys or masks is not None %}
GROUP BY
  {% if masks is not None %}
  subset
  {% endif %}
  {% for key in keys %}
  {% if masks is not None or not loop.first %}, {% endif %}
  {% if person is None %}
  {{ key }}
  {% else %}
  key_{{ loop.index0 }}
  {% endif %}
  {% endfor %}
{% endif %}

-- A row per class that is not suppressed: the numbers of its labels, NULL where one is not known,
-- and size, its records.
--
-- Holes: classes (labels, class_size and small), read (attribute, label and place), columns
-- (their numbers).
SELECT
  {% for number in columns %}
  read_{{ number }}.place AS label_{{ number }},
  {% endfor %}
  classes.class_size AS size
FROM {{ classes }} AS classes
{% for number in columns %}
LEFT JOIN {{ read }} AS read_{{ number }}
  ON read_{{ number }}.attribute = {{ number }}
  AND classes.label_{{ number }} IS NOT DISTINCT FROM read_{{ number }}.label
{% endfor %}
WHERE NOT classes.small

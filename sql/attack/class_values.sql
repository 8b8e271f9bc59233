-- The values of a sensitive column in released classes: the class (node), value, and their records.
--
-- Holes: values (labels, value and size), classes (placed_classes, whose labels are texts), labels
-- (their names), own (what classes are called).
SELECT
  classes.{{ own }} AS node,
  held.value,
  {{ total("held.size") }} AS records
FROM {{ values }} AS held
JOIN {{ classes }} AS classes
  ON TRUE
  {% for label in labels %}
  AND CAST(held.{{ label }} AS VARCHAR) IS NOT DISTINCT FROM classes.{{ label }}
  {% endfor %}
GROUP BY
  classes.{{ own }},
  held.value

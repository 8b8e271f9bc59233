-- The values of a sensitive column in released classes: the class (node), value, and their records.
--
-- Holes: values (labels, value and size), classes (placed_classes, whose labels are texts), labels
-- (their names), node (what classes are called).
SELECT
  classes.{{ node }} AS node,
  labelled.value,
  {{ total("labelled.size") }} AS records
FROM {{ values }} AS labelled
JOIN {{ classes }} AS classes
  ON TRUE
  {% for label in labels %}
  AND CAST(labelled.{{ label }} AS VARCHAR) IS NOT DISTINCT FROM classes.{{ label }}
  {% endfor %}
GROUP BY ALL

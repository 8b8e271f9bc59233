-- A row per distinct value of a column: the value, and its labels, listed or common to all others.
--
-- Holes: source (the table), column (its column), listed_labels (rows of listed values and their
-- labels), labels (the name of each, and the text that all values but NULL have that are not
-- listed).
SELECT
  held.value,
  {% for label, text in labels %}
  CASE
    WHEN known.is_listed IS NULL AND NOT held.value IS NULL
    THEN {{ text }}
    ELSE known.{{ label }}
  END AS {{ label }},
  {% endfor %}
FROM (
  SELECT DISTINCT
    {{ column }} AS value
  FROM {{ source }}
) AS held
LEFT JOIN (
  SELECT
    *,
    TRUE AS is_listed
  FROM {{ listed_labels }} AS listed
) AS known
  ON held.value IS NOT DISTINCT FROM known.value

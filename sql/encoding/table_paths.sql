-- A path per row of a plain table that is a hierarchy: texts from the leaf to the top, in the order
-- of the leaves.
--
-- Holes: table, columns (per level its name here, and the table's column), keys (columns of the
-- table that the paths are sorted by).
SELECT
  {% for label, column in columns %}
  CAST(paths.{{ column }} AS VARCHAR) AS {{ label }},
  {% endfor %}
FROM {{ table }} AS paths
ORDER BY
  {% for key in keys %}
  {% if not loop.first %}, {% endif %}paths.{{ key }} NULLS FIRST
  {% endfor %}

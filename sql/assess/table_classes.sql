-- A row per class of a published table: its labels as texts, its class_size, and whether it counts
-- as suppressed.
--
-- Holes: source (the table), columns (its quasi-identifiers), suppressed (the label of suppressed
-- records, or none where no class counts as suppressed).
SELECT
  {% for column in columns %}
  CAST(source.{{ column }} AS VARCHAR) AS label_{{ loop.index0 }},
  {% endfor %}
  CAST(COUNT(*) AS BIGINT) AS class_size,
  {% if suppressed is None %}
  FALSE AS small,
  {% else %}
  {{ is_suppressed(columns, suppressed) }} AS small,
  {% endif %}
FROM {{ source }} AS source
GROUP BY
  {% for column in columns %}
  {% if not loop.first %}, {% endif %}source.{{ column }}
  {% endfor %}

-- A row per record of a table: a value, a size of 1, and its labels.
--
-- Holes: source (the table), column (that of the value), labels (its quasi-identifiers), suppressed
-- (the label of suppressed records, which are left out, or none).
SELECT
  source.{{ column }} AS value,
  CAST(1 AS BIGINT) AS size,
  {% for label in labels %}
  source.{{ label }} AS label_{{ loop.index0 }},
  {% endfor %}
FROM {{ source }} AS source
{% if suppressed is not None %}
WHERE NOT ({{ is_suppressed(labels, suppressed) }})
{% endif %}

-- Records of each class and value of a published table: labels, value and size.
--
-- Holes: source (the table), columns (its quasi-identifiers), attribute (its sensitive column),
-- nulls (whether NULL counts).
SELECT
  {% for column in columns %}
  {{ column }} AS label_{{ loop.index0 }},
  {% endfor %}
  {{ attribute }} AS value,
  CAST(COUNT(*) AS BIGINT) AS size
FROM {{ source }} AS source
{% if not nulls %}
WHERE {{ attribute }} IS NOT NULL
{% endif %}
GROUP BY ALL

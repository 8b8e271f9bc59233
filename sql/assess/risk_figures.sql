-- One row per subset of columns: its number, classes, records (or persons) that are alone in a
-- class, and the sum of the squared class sizes. One person may be alone in several classes.
--
-- Holes: parts (per query of risk_classes the number of its subset; None where its rows say it),
-- persons (whether persons are counted).
{% for classes, number in parts %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {% if number is None %}
  subset,
  {% else %}
  {{ number }},
  {% endif %}
  CAST(COUNT(*) AS BIGINT),
  {% if persons %}
  CAST(COUNT(DISTINCT CASE WHEN class_size = 1 THEN person END) AS BIGINT),
  {% else %}
  {{ count_if("class_size = 1") }},
  {% endif %}
  {{ total("class_size * class_size") }}
FROM {{ classes }} AS classes
{% if number is None %}
GROUP BY subset
{% endif %}
{% endfor %}

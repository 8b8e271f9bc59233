-- One row per subset of columns: its number, classes, records (or persons) that are alone in a
-- class, and the sum of the squared class sizes. One person may be alone in several classes.
--
-- Holes: classes (a query of risk_classes with subsets), persons (whether persons are counted).
SELECT
  subset,
  CAST(COUNT(*) AS BIGINT),
  {% if persons %}
  CAST(COUNT(DISTINCT CASE WHEN class_size = 1 THEN person END) AS BIGINT),
  {% else %}
  {{ count_if("class_size = 1") }},
  {% endif %}
  {{ total("class_size * class_size") }}
FROM {{ classes }} AS classes
GROUP BY subset

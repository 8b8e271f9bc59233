-- One row: records, people by their weights, the sum of the individual risks of the records, the
-- highest one, and records whose risk is above a threshold.
--
-- Holes: classes (a query of individual_risk), threshold.
SELECT
  {{ total("class_size") }},
  {{ real_sum("people") }},
  {{ real_sum("class_size * individual_risk") }},
  MAX(individual_risk),
  {{ total("CASE WHEN individual_risk > threshold THEN class_size END") }}
FROM (
  SELECT
    classes.*,
    {{ threshold }} AS threshold
  FROM {{ classes }} AS classes
) AS classes

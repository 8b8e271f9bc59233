-- One row: records, people by their weights, the sum of the individual risks of the records, the
-- highest one, and records whose risk is above a threshold.
--
-- Holes: risks (individual_risk), threshold.
SELECT
  {{ total("class_size") }},
  {{ real_sum("people") }},
  {{ real_sum("class_size * individual_risk") }},
  MAX(individual_risk),
  {{ total("CASE WHEN individual_risk > threshold THEN class_size END") }}
FROM (
  SELECT
    risks.*,
    {{ threshold }} AS threshold
  FROM {{ risks }} AS risks
) AS classes

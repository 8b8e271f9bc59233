-- One row: parts of a sample, their records, the sum over records of the risk of their part, the
-- highest risk, and records whose risk is above a threshold.
--
-- Holes: risks (rows of records and risk, one for each part), threshold.
SELECT
  CAST(COUNT(*) AS BIGINT),
  {{ total("records") }},
  {{ real_sum("records * risk") }},
  MAX(risk),
  {{ total("CASE WHEN risk > threshold THEN records END") }}
FROM (
  SELECT
    risks.*,
    {{ threshold }} AS threshold
  FROM {{ risks }} AS risks
) AS parts

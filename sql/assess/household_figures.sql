-- One row: households, the sum over records of the risk of their household, the highest one, and
-- records whose household's risk is above a threshold. The risk of a household is that of any of
-- its members being found: 1 minus the product of 1 - r over the risks r of its records.
--
-- Holes: source (a table), household (its column of them), pairs (its quasi-identifiers, and what
-- they are called in the risks), risks (individual_risk), threshold.
SELECT
  CAST(COUNT(*) AS BIGINT),
  {{ real_sum("records * risk") }},
  MAX(risk),
  {{ total("CASE WHEN risk > threshold THEN records END") }}
FROM (
  SELECT
    CAST(COUNT(*) AS BIGINT) AS records,
    {{ threshold }} AS threshold,
    CASE
      WHEN MAX(individual_risk) >= 1
      THEN CAST(1 AS DOUBLE)
      ELSE 1 - EXP({{ real_sum("CASE WHEN individual_risk < 1 THEN LN(1 - individual_risk) END") }})
    END AS risk
  FROM {{ source }} AS source
  JOIN {{ risks }} AS risks
    ON TRUE
    {% for column, key in pairs %}
    AND source.{{ column }} IS NOT DISTINCT FROM risks.{{ key }}
    {% endfor %}
  GROUP BY source.{{ household }}
) AS households

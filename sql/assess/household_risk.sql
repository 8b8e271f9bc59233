-- The households of a sample: their records and risk, that of any of their members being found: 1
-- minus the product of 1 - r over the risks r of the records.
--
-- Holes: source (a table), household (its column of them), pairs (its quasi-identifiers, and what
-- they are called in the risks), risks (individual_risk).
SELECT
  CAST(COUNT(*) AS BIGINT) AS records,
  CASE
    WHEN MAX(risks.risk) >= 1
    THEN CAST(1 AS DOUBLE)
    ELSE 1 - EXP({{ real_sum("CASE WHEN risks.risk < 1 THEN LN(1 - risks.risk) END") }})
  END AS risk
FROM {{ source }} AS source
JOIN {{ risks }} AS risks
  ON TRUE
  {% for column, key in pairs %}
  AND source.{{ column }} IS NOT DISTINCT FROM risks.{{ key }}
  {% endfor %}
GROUP BY source.{{ household }}

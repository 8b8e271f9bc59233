-- Values in order, cut into parts of about as many records each: the least and the greatest value
-- of each as texts, records and held. NULL is a part by itself.
--
-- Holes: rows (of value, records and held), parts (how many besides that of NULL), least and
-- greatest (the texts of the extremes of `value`).
WITH reached AS (
  SELECT
    *,
    SUM(records) OVER (ORDER BY value) - records AS before,
    SUM(CASE WHEN value IS NOT NULL THEN records END) OVER () AS all_records
  FROM {{ rows }} AS rows
),
parted AS (
  SELECT
    *,
    CASE WHEN value IS NULL THEN {{ parts }} ELSE before * {{ parts }} // all_records END AS part
  FROM reached
)
SELECT
  {{ least }},
  {{ greatest }},
  {{ total("records") }},
  {{ total("held") }}
FROM parted
GROUP BY part
ORDER BY part

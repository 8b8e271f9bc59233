-- A row per unit: its values, its number from 0 in their order, and its records.
--
-- Holes: source (the table), by (the columns that tell units apart), unit and size (what these
-- figures are called).
SELECT
  *,
  CAST(ROW_NUMBER() OVER (ORDER BY {{ listed(by) }}) - 1 AS BIGINT) AS {{ unit }}
FROM (
  SELECT
    {{ listed(by) }},
    CAST(COUNT(*) AS BIGINT) AS {{ size }}
  FROM {{ source }}
  GROUP BY {{ listed(by) }}
) AS grouped

-- Classes of fewer than k persons; records without one are one person's.
--
-- Holes: rows (of the keys and entity), keys, k.
SELECT
  {{ listed(keys) }},
  CAST(0 AS BIGINT) AS required
FROM (
  SELECT DISTINCT
    {{ listed(keys) }},
    entity
  FROM {{ rows }}
) AS persons
GROUP BY {{ listed(keys) }}
HAVING COUNT(*) < {{ k }}

-- Classes of fewer than k records.
--
-- Holes: rows (of the keys and size), keys, k.
SELECT
  {{ listed(keys) }},
  CAST(0 AS BIGINT) AS required
FROM {{ rows }}
GROUP BY {{ listed(keys) }}
HAVING SUM(size) < {{ k }}

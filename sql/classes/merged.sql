-- One row per class that any of several relations of violations holds.
--
-- Holes: parts (rows of the keys and required), keys.
SELECT
  {{ listed(keys) }},
  MAX(required) AS required
FROM (
  {{ union_all(parts) }}
) AS parts
GROUP BY {{ listed(keys) }}

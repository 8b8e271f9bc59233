-- The classes of a table and of the population that it is of, matched value by value: one row per
-- size of population class, 0 standing for none, in their order.
--
-- The size; population classes; classes of the table that match one of them, records in these, and
-- how many of these classes hold one record; classes of the table that are larger than their match,
-- and records in these. NULL matches NULL.
--
-- Holes: released (classes of the table: keys and class_size), population (classes of the
-- population: keys and population_size), keys.
SELECT
  CAST(COALESCE(population_size, 0) AS BIGINT),
  CAST(COUNT(population_size) AS BIGINT),
  CAST(COUNT(class_size) AS BIGINT),
  {{ total("class_size") }},
  {{ count_if("class_size = 1") }},
  {{ count_if("class_size > COALESCE(population_size, 0)") }},
  {{ total("CASE WHEN class_size > COALESCE(population_size, 0) THEN class_size END") }}
FROM {{ released }} AS released
FULL JOIN {{ population }} AS population
  ON {{ same("released", "population", keys) }}
GROUP BY COALESCE(population_size, 0)
ORDER BY COALESCE(population_size, 0)

-- Persons with records in classes of one value or none, in one row; NULL is no value.
--
-- Holes: rows (of the words, values and entity), words, value.
SELECT CAST(COUNT(*) AS BIGINT)
FROM (
  SELECT DISTINCT rows.entity
  FROM {{ rows }} AS rows
  JOIN (
    SELECT {{ listed(words) }}
    FROM {{ rows }}
    GROUP BY {{ listed(words) }}
    HAVING COUNT(DISTINCT {{ value }}) <= 1
  ) AS classes
    ON {{ equal("rows", "classes", words) }}
) AS persons

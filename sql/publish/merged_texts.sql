-- Number of texts that stand for more than one value of a column.
--
-- Holes: source (the table), subject (the column), written (the text of value).
SELECT CAST(COUNT(*) AS BIGINT)
FROM (
  SELECT text
  FROM (
    SELECT {{ written }} AS text
    FROM (SELECT DISTINCT {{ subject }} AS value FROM {{ source }}) AS present
  ) AS texts
  GROUP BY text
  HAVING COUNT(*) > 1
) AS repeated

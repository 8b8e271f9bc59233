-- Every person with the number of their trajectory, the bag of their classes: person, trajectory.
--
-- Holes: rows (of the words and the person, several for a person and class or one), words, person
-- (the column that says whose a row is; NULL is one person), records (how many records a class of
-- rows has).
WITH classes AS (
  SELECT
    {{ person }} AS person,
    -- Whole numbers between points are told apart, whatever they are.
    {% for word in words %}
    CAST({{ word }} AS VARCHAR) || '.' ||
    {% endfor %}
    CAST(CAST({{ records }} AS BIGINT) AS VARCHAR) AS class
  FROM {{ rows }} AS rows
  GROUP BY
    {{ person }},
    {{ listed(words) }}
),
persons AS (
  SELECT
    person,
    STRING_AGG(class, ' ' ORDER BY class) AS trajectory
  FROM classes
  GROUP BY person
)
SELECT
  person,
  CAST(DENSE_RANK() OVER (ORDER BY trajectory) AS BIGINT) AS trajectory
FROM persons

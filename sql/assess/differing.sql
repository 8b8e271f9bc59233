-- One row: two shares for each column of hashes. Of the values with several records those whose
-- records differ in the column, and of neighbouring values those that differ from each other.
--
-- Holes: records (rows of the columns), by (the column of values), of (the other columns).
SELECT
  {% for column in of %}
  AVG(CASE WHEN size > 1 THEN differs_{{ loop.index0 }} END),
  AVG(differs_before_{{ loop.index0 }}),
  {% endfor %}
FROM (
  SELECT
    size,
    {% for column in of %}
    CASE WHEN low_{{ loop.index0 }} <> high_{{ loop.index0 }} THEN 1 ELSE 0 END
      AS differs_{{ loop.index0 }},
    CASE
      WHEN low_{{ loop.index0 }} <> LAG(low_{{ loop.index0 }}) OVER (ORDER BY {{ by }})
      THEN 1
      ELSE 0
    END AS differs_before_{{ loop.index0 }},
    {% endfor %}
  FROM (
    SELECT
      {{ by }},
      CAST(COUNT(*) AS BIGINT) AS size,
      {% for column in of %}
      MIN({{ column }}) AS low_{{ loop.index0 }},
      MAX({{ column }}) AS high_{{ loop.index0 }},
      {% endfor %}
    FROM {{ records }}
    GROUP BY {{ by }}
  ) AS held
) AS compared

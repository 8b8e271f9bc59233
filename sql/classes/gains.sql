-- What knowing its class adds to the purity of a sensitive attribute, summed over classes: one row
-- per node (or one), with every (over all classes), positive (over those that add something, each
-- rounded up), and both over the classes of k records alone, large and positive_large.
--
-- A class with n records that count, squares Q of its value counts added up, adds (Q / n - n S /
-- N^2) / N, with N and S those of the table. That is (Q N^2 - n^2 S) / (n N^3), whose sign is
-- exact, since the numerator is a whole number. Each class is rounded to a whole number of parts,
-- so that the order of the rows cannot change a sum.
--
-- Holes: value_counts (rows of the keys, rank and held, one per class and value), keys (what tells
-- classes apart), by (those of them that the sums are told apart by), k, squared_records (N^2),
-- squares (S), parts (parts of a purity of 1, over N^3), is_wide (whether products of counts are
-- wider than a BIGINT).
WITH classes AS (
  SELECT
    {{ listed(keys) }},
    CAST(SUM(held) AS BIGINT) AS class_size,
    {{ total("CASE WHEN rank IS NOT NULL THEN held END") }} AS counted,
    COALESCE(
      SUM(CASE WHEN rank IS NOT NULL THEN {{ exact("held", is_wide) }} * held END),
      0
    ) AS squares
  FROM {{ value_counts }} AS value_counts
  GROUP BY {{ listed(keys) }}
),
excess AS (
  SELECT
    {% for column in by %}
    {{ column }},
    {% endfor %}
    class_size,
    counted,
    {{ exact("squares", is_wide) }} * {{ squared_records }}
    - {{ exact("counted", is_wide) }} * counted * {{ squares }} AS above
  FROM classes
),
gains AS (
  SELECT
    {% for column in by %}
    {{ column }},
    {% endfor %}
    class_size,
    {% set gained = "CAST(above AS DOUBLE) / NULLIF(CAST(counted AS DOUBLE), 0)" %}
    COALESCE(CAST(ROUND({{ gained }} * {{ parts }}) AS BIGINT), 0) AS every,
    CASE WHEN above > 0 THEN CAST(CEIL({{ gained }} * {{ parts }}) AS BIGINT) + 1 ELSE 0 END
      AS positive
  FROM excess
)
SELECT
  {% for column in by %}
  {{ column }},
  {% endfor %}
  {{ total("every") }} AS every,
  {{ total("positive") }} AS positive,
  CAST(COALESCE(SUM(CASE WHEN class_size >= {{ k }} THEN every END), 0) AS BIGINT) AS large,
  CAST(COALESCE(SUM(CASE WHEN class_size >= {{ k }} THEN positive END), 0) AS BIGINT)
    AS positive_large
FROM gains
{% if by %}
GROUP BY {{ listed(by) }}
{% endif %}

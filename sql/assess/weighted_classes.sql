-- The classes of a sample: key_0, key_1, ..., class_size, and people, the sum of the weights.
--
-- Holes: source (a table), keys (its quasi-identifiers, and what they are called), weight (the
-- weight of a record).
SELECT
  {% for column, key in keys %}
  {{ key }},
  {% endfor %}
  CAST(COUNT(*) AS BIGINT) AS class_size,
  {{ real_sum("weight") }} AS people
FROM (
  SELECT
    {% for column, key in keys %}
    {{ column }} AS {{ key }},
    {% endfor %}
    {{ weight }} AS weight
  FROM {{ source }} AS source
) AS weighed
GROUP BY ALL

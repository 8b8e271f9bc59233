-- One row per value that an attribute has in a table: value, rank (0 to m - 1 in the values'
-- order), records, reached (records up to and with this value), below (the sum of reached over the
-- values before), and per inner level of the hierarchy the value's node and the records under it.
--
-- Holes: source (rows of value and size, any number for a value), nulls (whether NULL is a value),
-- value_order (rows of value, rank and nodes; None for the order of the type, NULL last), levels
-- (the inner ones of the hierarchy).
WITH value_counts AS (
  SELECT
    value,
    {{ total("size") }} AS records
  FROM {{ source }} AS source
  {% if not nulls %}
  WHERE value IS NOT NULL
  {% endif %}
  GROUP BY value
),
ranked AS (
  SELECT
    value_counts.value,
    {% if value_order is None %}
    CAST(ROW_NUMBER() OVER (ORDER BY value_counts.value) - 1 AS BIGINT) AS rank,
    {% else %}
    CAST(ROW_NUMBER() OVER (ORDER BY value_order.rank) - 1 AS BIGINT) AS rank,
    {% endif %}
    value_counts.records,
    {% for level in levels %}
    value_order.node_{{ level }},
    {% endfor %}
  FROM value_counts
  {% if value_order is not None %}
  JOIN {{ value_order }} AS value_order
    ON value_counts.value IS NOT DISTINCT FROM value_order.value
  {% endif %}
),
summed AS (
  SELECT
    *,
    CAST(SUM(records) OVER (ORDER BY rank) AS BIGINT) AS reached,
    {% for level in levels %}
    CAST(SUM(records) OVER (PARTITION BY node_{{ level }}) AS BIGINT) AS node_{{ level }}_records,
    {% endfor %}
  FROM ranked
)
SELECT
  *,
  CAST(SUM(reached) OVER (ORDER BY rank) - reached AS BIGINT) AS below
FROM summed

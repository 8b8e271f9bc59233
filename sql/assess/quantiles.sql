-- Per column of numbers its finite values, how many are whole, and their quantiles; in one row.
--
-- Quantiles are values that stand in the column.
--
-- Holes: source (the table), columns (NULL where a value is not finite), shares (those of the
-- values that are below each quantile).
SELECT
  {% for finite in columns %}
  CAST(COUNT({{ finite }}) AS BIGINT),
  CAST(COUNT(CASE WHEN {{ finite }} = FLOOR({{ finite }}) THEN 1 END) AS BIGINT),
  QUANTILE_DISC({{ finite }}, [{{ listed(shares) }}]),
  {% endfor %}
FROM {{ source }}

-- The mean and quantiles of a column of numbers, in one row: of its finite values.
--
-- A quantile is the least value up to which there is at least its share of the values. NaN is no
-- less than the greatest number, as infinity is.
--
-- Holes: source (the table), column (its column), shares (of the quantiles), greatest (number),
-- suppressed and judged (as is_suppressed takes them; or none).
SELECT
  SUM(value * size) / SUM(size) AS mean,
  {% for share in shares %}
  MIN(CASE WHEN below >= {{ share }} * total THEN value END) AS quantile_{{ loop.index0 }},
  {% endfor %}
FROM (
  SELECT
    value,
    size,
    CAST(SUM(size) OVER (ORDER BY value) AS BIGINT) AS below,
    CAST(SUM(size) OVER () AS BIGINT) AS total
  FROM (
    SELECT
      CAST(source.{{ column }} AS DOUBLE) AS value,
      CAST(COUNT(*) AS BIGINT) AS size
    FROM {{ source }} AS source
    WHERE ABS(CAST(source.{{ column }} AS DOUBLE)) <= {{ greatest }}
    {% if suppressed is not None %}
    AND NOT ({{ is_suppressed(judged, suppressed) }})
    {% endif %}
    GROUP BY CAST(source.{{ column }} AS DOUBLE)
  ) AS counted
) AS ranked

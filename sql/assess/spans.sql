-- One row: for each column of dates the days between two quantiles, and its values with a time of
-- day.
--
-- Holes: source (the table), columns (its columns of dates), first and last (the shares of the
-- values below each quantile).
{% macro finite(column) %}
CASE
  WHEN ISFINITE(CAST({{ column }} AS TIMESTAMP))
  THEN CAST({{ column }} AS TIMESTAMP)
END
{% endmacro %}
{% macro day(column, share) %}
CAST(QUANTILE_DISC({{ finite(column) }}, {{ share }}) AS DATE)
{% endmacro %}
SELECT
  {% for column in columns %}
  CAST({{ day(column, last) }} - {{ day(column, first) }} AS BIGINT),
  CAST(
    COUNT(
      CASE
        WHEN {{ finite(column) }} <> CAST(CAST({{ finite(column) }} AS DATE) AS TIMESTAMP)
        THEN 1
      END
    )
  AS BIGINT),
  {% endfor %}
FROM {{ source }}

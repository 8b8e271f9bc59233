-- The fewest records that share a combination of values of any of some sets of columns, in one row.
--
-- Holes: rows (of the columns and size), sets (per set its columns).
SELECT MIN(records)
FROM (
  SELECT {{ total("size") }} AS records
  FROM {{ rows }} AS combinations
  GROUP BY GROUPING SETS (
    {% for columns in sets %}
    {% if not loop.first %}, {% endif %}({{ listed(columns) }})
    {% endfor %}
  )
) AS sharing

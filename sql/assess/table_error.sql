-- How a release counts by one or two columns, in one row: the share of its records that falls into
-- cells of the original, the sum over these of the differences of shares, and the mean of the
-- differences over the original's share.
--
-- A label stands for cells; its records are spread over them alike.
--
-- Holes: original and released (the tables), records and published (how many of each count),
-- columns (per column its name, the cell of a record of the original, the rows of its values and
-- cells or none, the cells of its labels or none, and the label of a cell), spread (the share of a
-- cell that a label gives), suppressed and judged (as is_suppressed takes them; or none).
WITH held AS (
  SELECT
    {% for column, cell, values, stands, label in columns %}
    {{ cell }} AS cell_{{ loop.index0 }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ original }} AS source
  {% for column, cell, values, stands, label in columns %}
  {% if values is not None %}
  JOIN {{ values }} AS values_{{ loop.index0 }}
    ON source.{{ column }} IS NOT DISTINCT FROM values_{{ loop.index0 }}.value
  {% endif %}
  {% endfor %}
  GROUP BY
    {% for column, cell, values, stands, label in columns %}
    {% if not loop.first %}, {% endif %}{{ cell }}
    {% endfor %}
),
labelled AS (
  SELECT
    {% for column, cell, values, stands, label in columns %}
    CAST(source.{{ column }} AS VARCHAR) AS label_{{ loop.index0 }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ released }} AS source
  {% if suppressed is not None %}
  WHERE NOT ({{ is_suppressed(judged, suppressed) }})
  {% endif %}
  GROUP BY
    {% for column, cell, values, stands, label in columns %}
    {% if not loop.first %}, {% endif %}CAST(source.{{ column }} AS VARCHAR)
    {% endfor %}
),
expected AS (
  SELECT
    {% for column, cell, values, stands, label in columns %}
    held.cell_{{ loop.index0 }},
    {% endfor %}
    {{ real_sum(spread) }} AS share
  FROM held
  {% for column, cell, values, stands, label in columns %}
  {% if stands is not None %}
  JOIN {{ stands }} AS stands_{{ loop.index0 }}
    ON held.cell_{{ loop.index0 }} = stands_{{ loop.index0 }}.cell
  {% endif %}
  {% endfor %}
  JOIN labelled
    ON
    {% for column, cell, values, stands, label in columns %}
    {% if not loop.first %} AND {% endif %}
    labelled.label_{{ loop.index0 }} IS NOT DISTINCT FROM {{ label }}
    {% endfor %}
  GROUP BY
    {% for column, cell, values, stands, label in columns %}
    {% if not loop.first %}, {% endif %}held.cell_{{ loop.index0 }}
    {% endfor %}
),
compared AS (
  SELECT
    CAST(held.size AS DOUBLE) / {{ records }} AS before,
    COALESCE(expected.share, CAST(0 AS DOUBLE)) AS after
  FROM held
  LEFT JOIN expected
    ON
    {% for column, cell, values, stands, label in columns %}
    {% if not loop.first %} AND {% endif %}
    held.cell_{{ loop.index0 }} IS NOT DISTINCT FROM expected.cell_{{ loop.index0 }}
    {% endfor %}
)
SELECT
  {{ real_sum("after") }} AS covered,
  {{ real_sum("ABS(after - before)") }} AS differing,
  {{ real_sum("ABS(after - before) / before") }} / COUNT(*) AS relative
FROM compared

-- How a release counts by one or two columns, in one row: the share of its records that falls into
-- cells of the original, the sum over these of the differences of shares, and the mean of the
-- differences over the original's share.
--
-- A label stands for cells; its records are spread over them alike.
--
-- Holes: original and released (the tables), records (those of the original), columns (per column
-- its name, the names of its cells and labels, the cell of a record of the original, and the label
-- of a cell), cells (their names), maps (per column whose cells are numbered its name, and the
-- relation and rows of its values and cells), stands (of the same columns the number, relation, and
-- name of the cells), label_cells (attribute, label, cell, and how many cells it has),
-- spread (the share that a label gives to a cell), suppressed and judged (as is_suppressed takes
-- them; or none).
WITH counted AS (
  SELECT
    {% for column, cell, label, value, stands_for in columns %}
    {{ value }} AS {{ cell }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ original }} AS source
  {% for column, map, rows in maps %}
  JOIN {{ rows }} AS {{ map }}
    ON source.{{ column }} IS NOT DISTINCT FROM {{ map }}.value
  {% endfor %}
  GROUP BY ALL
),
labelled AS (
  SELECT
    {% for column, cell, label, value, stands_for in columns %}
    CAST(source.{{ column }} AS VARCHAR) AS {{ label }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS size
  FROM {{ released }} AS source
  {% if suppressed is not None %}
  WHERE NOT ({{ is_suppressed(judged, suppressed) }})
  {% endif %}
  GROUP BY ALL
),
expected AS (
  SELECT
    {% for cell in cells %}
    counted.{{ cell }},
    {% endfor %}
    {{ real_sum(spread) }} AS share
  FROM counted
  {% for number, relation, cell in stands %}
  JOIN {{ label_cells }} AS {{ relation }}
    ON {{ relation }}.attribute = {{ number }}
    AND {{ relation }}.cell = counted.{{ cell }}
  {% endfor %}
  JOIN labelled
    ON TRUE
    {% for column, cell, label, value, stands_for in columns %}
    AND labelled.{{ label }} IS NOT DISTINCT FROM {{ stands_for }}
    {% endfor %}
  GROUP BY ALL
),
compared AS (
  SELECT
    CAST(counted.size AS DOUBLE) / {{ records }} AS before,
    COALESCE(expected.share, CAST(0 AS DOUBLE)) AS after
  FROM counted
  LEFT JOIN expected
    ON {{ same("counted", "expected", cells) }}
)
SELECT
  {{ real_sum("after") }} AS covered,
  {{ real_sum("ABS(after - before)") }} AS differing,
  {{ real_sum("ABS(after - before) / before") }} / COUNT(*) AS relative
FROM compared

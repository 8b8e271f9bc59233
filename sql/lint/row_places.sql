-- One row: groups of records that are matched, and the correlation of their places in both tables.
--
-- Records are matched by the texts of cells that are as in the original; the place of a group is
-- the mean of its rows' places. Ranks are compared within blocks by which the release is sorted, so
-- an order that published columns tell counts for nothing.
--
-- Holes: released and original (tables), columns (by which records are matched, at least one),
-- block (an expression over a released row that tells its block).
{% macro placed(source) %}
FROM (SELECT *, ROW_NUMBER() OVER () AS sqlanon_place FROM {{ source }}) AS placed
GROUP BY ALL
{% endmacro %}
WITH here AS (
  SELECT
    {{ block }} AS block,
    {% for column in columns %}
    CAST({{ column }} AS VARCHAR) AS key_{{ loop.index0 }},
    {% endfor %}
    AVG(sqlanon_place) AS place
  {{ placed(released) }}
),
there AS (
  SELECT
    {% for column in columns %}
    CAST({{ column }} AS VARCHAR) AS key_{{ loop.index0 }},
    {% endfor %}
    AVG(sqlanon_place) AS place
  {{ placed(original) }}
),
ranked AS (
  SELECT
    RANK() OVER (PARTITION BY block ORDER BY here.place) AS here_rank,
    RANK() OVER (PARTITION BY block ORDER BY there.place) AS there_rank,
    COUNT(*) OVER (PARTITION BY block) AS groups
  FROM here
  JOIN there
    ON TRUE
    {% for column in columns %}
    AND here.key_{{ loop.index0 }} IS NOT DISTINCT FROM there.key_{{ loop.index0 }}
    {% endfor %}
)
SELECT
  CAST(COUNT(*) AS BIGINT),
  CORR(here_rank - groups / 2, there_rank - groups / 2)
FROM ranked
WHERE groups > 1

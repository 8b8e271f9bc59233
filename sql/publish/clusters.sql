-- A row per published record, which is recoded to a level of its own in each column.
--
-- Records are told by their unit and by their position within it, so the statement holds no value
-- of the table. All columns decide the order of the rows, which tells nothing.
--
-- Holes: source (the table), by (the columns that tell units apart), needed (these and the
-- published ones), unit and position (names that none of these has), order (by what records of a
-- unit are placed), assigned (runs of positions and their nodes), nodes (the levels of nodes),
-- labels, cells and sorted_by (as in by_value).
WITH sqlanon_records AS (
  SELECT
    *,
    CAST(
      ROW_NUMBER() OVER (PARTITION BY {{ unit }} ORDER BY {{ listed(order) }}) - 1
    AS BIGINT) AS {{ position }}
  FROM (
    SELECT
      {{ listed(needed) }},
      CAST(DENSE_RANK() OVER (ORDER BY {{ listed(by) }}) - 1 AS BIGINT) AS {{ unit }}
    FROM {{ source }}
  ) AS numbered
),
sqlanon_assigned AS {{ assigned }},
sqlanon_nodes AS {{ nodes }}
SELECT
  {{ published_cells(cells) }}
FROM sqlanon_records AS record
JOIN sqlanon_assigned
  ON record.{{ unit }} = sqlanon_assigned.sqlanon_unit
  AND record.{{ position }} BETWEEN sqlanon_assigned.first AND sqlanon_assigned.last
JOIN sqlanon_nodes
  ON sqlanon_assigned.node = sqlanon_nodes.node
{{ join_labels(labels) }}
{% if sorted_by %}
ORDER BY {{ listed(sorted_by) }}
{% endif %}

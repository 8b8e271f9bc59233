-- Records of a control that are the original's in all columns, and all of the control.
--
-- Equal records of the original count once for each.
--
-- Holes: both (records of the original, sqlanon_which = 0, and of the control, 1), columns.
SELECT
  {{ total('CASE WHEN theirs < ours THEN theirs ELSE ours END') }},
  {{ total('theirs') }}
FROM (
  SELECT
    {{ count_if('sqlanon_which = 0') }} AS ours,
    {{ count_if('sqlanon_which = 1') }} AS theirs
  FROM ({{ both }}) AS records
  GROUP BY {{ listed(columns) }}
) AS combinations

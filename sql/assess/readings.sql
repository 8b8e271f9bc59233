-- A row per node that a label of a column may stand for: label, place, records and classes.
--
-- A label of an inner node is compared as text; an original value as a value of its type, since it
-- can be written in several ways.
--
-- Holes: held (leaf, which is the label, records and classes), values (these with the label as a
-- value), nodes (attribute, leaf, is_leaf and place), leaves (the value and the place of those that
-- are leaves), number (the column's).
SELECT
  held.leaf,
  nodes.place,
  held.records,
  held.classes
FROM {{ held }} AS held
JOIN (
  SELECT
    leaf,
    place
  FROM {{ nodes }}
  WHERE attribute = {{ number }} AND is_leaf = 0
) AS nodes
  ON held.leaf IS NOT DISTINCT FROM nodes.leaf
UNION ALL
SELECT
  held.leaf,
  nodes.place,
  held.records,
  held.classes
FROM {{ values }} AS held
JOIN {{ leaves }} AS nodes
  ON held.value IS NOT DISTINCT FROM nodes.value

-- Coded rows with the class_size of their class.
--
-- Holes: rows (of the words), larger (the classes of more than one record: words, class_size),
-- words.
SELECT
  rows.*,
  COALESCE(larger.class_size, 1) AS class_size
FROM {{ rows }} AS rows
LEFT JOIN {{ larger }} AS larger
  ON {{ equal("rows", "larger", words) }}

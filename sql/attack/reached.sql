-- What original combinations reach by one label more: their words, and the number (node) of each
-- beginning of a class whose labels stand for their values.
--
-- Holes: pairs (words and node, what they reach already), words (their names), covers (attribute,
-- the words of a leaf, and the place of each node above it that is published), classes
-- (placed_classes), column (the label's number), masks (the bits of its column per word), before
-- and after (what beginnings without and with the label are called).
SELECT
  {% for word in words %}
  pairs.{{ word }},
  {% endfor %}
  nodes.node
FROM {{ pairs }} AS pairs
JOIN {{ covers }} AS covers
  ON covers.attribute = {{ column }}
  AND {{ same_words("pairs", "covers", masks) }}
JOIN (
  SELECT DISTINCT
    place_{{ column }} AS place,
    {{ before }} AS before_it,
    {{ after }} AS node
  FROM {{ classes }} AS classes
) AS nodes
  ON nodes.before_it = pairs.node
  AND nodes.place = covers.place

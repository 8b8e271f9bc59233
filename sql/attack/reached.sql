-- What original combinations reach: their words, and the number (node) of each prefix of a class
-- whose labels stand for their values. They reach its beginning (parent) already.
--
-- Holes: pairs (words and node), words (their names), covers (attribute, the words of a leaf, and
-- the place of each node above it that is published), classes (placed_classes), columns (per column
-- its number and its bits of each word), parent and own (what prefixes are called).
SELECT
  {% for word in words %}
  pairs.{{ word }},
  {% endfor %}
  prefixes.node
FROM {{ pairs }} AS pairs
{% for number, masks in columns %}
JOIN {{ covers }} AS cover_{{ number }}
  ON cover_{{ number }}.attribute = {{ number }}
  {% for bits in masks %}
  {% if bits %}
  AND (pairs.word_{{ loop.index0 }} & {{ bits }}) = cover_{{ number }}.word_{{ loop.index0 }}
  {% endif %}
  {% endfor %}
{% endfor %}
JOIN (
  SELECT DISTINCT
    {% for number, masks in columns %}
    place_{{ number }},
    {% endfor %}
    {{ parent }} AS parent,
    {{ own }} AS node
  FROM {{ classes }} AS classes
) AS prefixes
  ON prefixes.parent = pairs.node
  {% for number, masks in columns %}
  AND prefixes.place_{{ number }} = cover_{{ number }}.place
  {% endfor %}

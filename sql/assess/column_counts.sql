-- A row per value of each column: the number of the column, words, records and rows.
--
-- Holes: counted (words and the records of each row), size (the name of these), columns (per column
-- its number and its bits of each word), names (per word what these are called), classes (those
-- whose suppressed records are counted, or none where rows are classes that are not suppressed),
-- masks (per word the bits that tell classes apart).
SELECT
  bits.attribute,
  {% for mask in names %}
  counted.word_{{ loop.index0 }} & bits.{{ mask }},
  {% endfor %}
  CAST(COALESCE(SUM(counted.{{ size }}), 0) AS BIGINT),
  CAST(COUNT(*) AS BIGINT)
FROM {{ counted }} AS counted
{% if classes is not None %}
JOIN {{ classes }} AS classes
  ON {{ same_words("counted", "classes", masks) }}
{% endif %}
CROSS JOIN (
  VALUES
    {% for number, own in columns %}
    {% if not loop.first %}, {% endif %}({{ number }}, {{ listed(own) }})
    {% endfor %}
) AS bits(attribute, {{ listed(names) }})
{% if classes is not None %}
WHERE classes.small
{% else %}
WHERE NOT counted.small
{% endif %}
GROUP BY ALL

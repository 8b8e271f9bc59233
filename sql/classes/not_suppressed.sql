-- The details of the classes that are not suppressed.
--
-- Holes: rows (details of classes), suppressed (classes), keys (the columns that tell them apart),
-- nullable (whether a key may be NULL).
SELECT *
FROM {{ rows }} AS details
WHERE NOT EXISTS (
  SELECT 1
  FROM {{ suppressed }} AS gone
  WHERE
    {% if nullable %}
    {{ same('gone', 'details', keys) }}
    {% else %}
    {{ equal('gone', 'details', keys) }}
    {% endif %}
)

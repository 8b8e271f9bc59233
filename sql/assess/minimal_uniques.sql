-- Records that are unique by some sets of columns and by no smaller set within: the columns of the
-- set, a bit for each, how many these are, and the words of the record.
--
-- Holes: source (the frequency set of all columns), sets (per set its columns, how many these are,
-- and per word the bits that tell its classes apart), words (names of the words), known (a table of
-- what was found by smaller sets).
SELECT
  alone.subset,
  alone.members,
  {% for word in words %}
  alone.{{ word }},
  {% endfor %}
FROM (
  SELECT
    sets.subset,
    sets.members,
    {% for word in words %}
    MIN(source.{{ word }}) AS {{ word }},
    {% endfor %}
  FROM {{ source }} AS source
  CROSS JOIN (
    VALUES
      {% for own in sets %}
      {% if not loop.first %}, {% endif %}({{ listed(own) }})
      {% endfor %}
  ) AS sets(subset, members{% for word in words %}, mask_{{ loop.index0 }}{% endfor %})
  GROUP BY
    sets.subset,
    sets.members
    {% for word in words %}
    , source.{{ word }} & sets.mask_{{ loop.index0 }}
    {% endfor %}
  HAVING SUM(source.size) = 1
) AS alone
WHERE NOT EXISTS (
  SELECT 1
  FROM {{ known }} AS known
  WHERE {{ equal("known", "alone", words) }}
    AND (known.subset & alone.subset) = known.subset
)

-- The rows of a release with the number of their class, and what they carry.
--
-- Holes: rows (a table), labels (of its quasi-identifiers, as they are called afterwards), original
-- (columns of the values before, if any, which are numbered together as `combination`), links (what
-- is compared, and what it is called), whose (the column of persons; None where each row is one).
SELECT
  CAST(DENSE_RANK() OVER (ORDER BY {{ listed(labels) }}) AS BIGINT) AS class,
  {% for label in labels %}
  CAST({{ label }} AS VARCHAR) AS label_{{ loop.index0 }},
  {% endfor %}
  {% if original %}
  CAST(DENSE_RANK() OVER (ORDER BY {{ listed(original) }}) AS BIGINT) AS combination,
  {% endif %}
  {% for column in original %}
  {{ column }} AS original_{{ loop.index0 }},
  {% endfor %}
  {% for link in links %}
  {{ link }} AS link_{{ loop.index0 }},
  {% endfor %}
  {% if whose is None %}
  CAST(ROW_NUMBER() OVER (ORDER BY {{ listed(labels) }}) AS BIGINT) AS whose
  {% else %}
  {{ whose }} AS whose
  {% endif %}
FROM {{ rows }} AS rows

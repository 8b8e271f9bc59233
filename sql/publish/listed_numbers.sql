-- A row per word of a text: the whole numbers in it, which are parted by colons.
--
-- They travel as one text: a literal for each number would be most of the statement.
--
-- Holes: rows (the text), columns (the numbers of the columns from 1 on, with their names).
SELECT
  {% for number, column in columns %}
  CAST(SPLIT_PART(run, ':', {{ number }}) AS BIGINT) AS {{ column }},
  {% endfor %}
FROM (
  SELECT
    UNNEST(STR_SPLIT({{ rows }}, ' ')) AS run
) AS runs

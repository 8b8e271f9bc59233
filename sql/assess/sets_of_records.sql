-- How many records have so many minimal sets of 1, 2, ... columns: these numbers, records.
--
-- Holes: minimal (a row per minimal set of a record: members, its columns), words (that tell
-- records apart), numbers (of columns: 1, 2, ...), sizes (a column for each of the numbers).
SELECT {{ listed(sizes) }}, CAST(COUNT(*) AS BIGINT)
FROM (
  SELECT
    {% for number in numbers %}
    CAST(COUNT(CASE WHEN members = {{ number }} THEN 1 END) AS BIGINT) AS size_{{ number }},
    {% endfor %}
  FROM {{ minimal }}
  GROUP BY {{ listed(words) }}
) AS records
GROUP BY {{ listed(sizes) }}

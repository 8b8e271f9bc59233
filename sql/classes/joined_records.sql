-- Records that a column joins as the entity column does, for each of some columns: its place;
-- values; pairs of a value and a person; the records of values that one person has in several
-- records, and nobody else in any. NULL joins nothing, and is nobody.
--
-- Holes: source (a table), columns, entity.
{% for column in columns %}
{% if not loop.first %}
UNION ALL
{% endif %}
SELECT
  {{ loop.index0 }},
  CAST(COUNT(*) AS BIGINT),
  {{ total("persons") }},
  {{ total("CASE WHEN persons = 1 AND size > 1 THEN size END") }}
FROM (
  SELECT
    COUNT(*) AS persons,
    {{ total("size") }} AS size
  FROM (
    SELECT
      {{ column }} AS value,
      CAST(COUNT(*) AS BIGINT) AS size
    FROM {{ source }}
    WHERE
      {{ column }} IS NOT NULL
      AND {{ entity }} IS NOT NULL
    GROUP BY
      {{ column }},
      {{ entity }}
  ) AS pairs
  GROUP BY value
) AS "values"
{% endfor %}

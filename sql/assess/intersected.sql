-- One row: the fewest candidates of a record that both releases may hold, and per link the fewest
-- values among them (NULL where no record may be in both), then the records that may be in both,
-- those of them that have too few, and the classes of the new release that these are in.
--
-- A record's candidates are the persons (whose) with a row of its class whose links a row of its
-- earlier classes has; it may be in both releases where its own links are among these.
--
-- Holes: rows (of the new release, placed_rows), earlier (of the earlier one), covering (of both),
-- links (columns), nulls (per link whether NULL is a value), k, least (per link the fewest values).
WITH shared AS (
  SELECT DISTINCT
    seen.class,
    seen.combination,
    {% for link in links %}
    held.{{ link }},
    {% endfor %}
  FROM (SELECT DISTINCT class, combination FROM {{ rows }} AS rows) AS seen
  JOIN {{ covering }} AS covering
    ON covering.combination = seen.combination
  JOIN (
    SELECT DISTINCT
      class,
      {{ listed(links) }}
    FROM {{ rows }} AS rows
  ) AS held
    ON held.class = seen.class
  JOIN (
    SELECT DISTINCT
      class,
      {{ listed(links) }}
    FROM {{ earlier }} AS earlier
  ) AS before
    ON before.class = covering.class
    AND {{ same("before", "held", links) }}
),
candidates AS (
  SELECT
    shared.class,
    shared.combination,
    COUNT(DISTINCT COALESCE(CAST(rows.whose AS VARCHAR), '')) AS candidates,
    {% for is_value in nulls %}
    {% set number = loop.index0 %}
    COUNT(DISTINCT rows.link_{{ number }})
    {% if is_value %}
    + MAX(CASE WHEN rows.link_{{ number }} IS NULL THEN 1 ELSE 0 END)
    {% endif %}
    AS values_{{ number }},
    {% endfor %}
  FROM shared
  JOIN {{ rows }} AS rows
    ON rows.class = shared.class
    AND {{ same("rows", "shared", links) }}
  GROUP BY ALL
),
records AS (
  SELECT
    candidates.*,
    candidates.candidates < {{ k }}
    {% for fewest in least %}
    OR candidates.values_{{ loop.index0 }} < {{ fewest }}
    {% endfor %}
    AS fails
  FROM {{ rows }} AS rows
  JOIN shared
    ON rows.class = shared.class
    AND rows.combination = shared.combination
    AND {{ same("rows", "shared", links) }}
  JOIN candidates
    ON candidates.class = rows.class
    AND candidates.combination = rows.combination
)
SELECT
  CAST(MIN(candidates) AS BIGINT),
  {% for is_value in nulls %}
  CAST(MIN(values_{{ loop.index0 }}) AS BIGINT),
  {% endfor %}
  CAST(COUNT(*) AS BIGINT),
  {{ count_if("fails") }},
  CAST(COUNT(DISTINCT CASE WHEN fails THEN class END) AS BIGINT)
FROM records

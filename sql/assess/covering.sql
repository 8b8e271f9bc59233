-- The classes of an earlier release that a combination of original values may be in: its number and
-- that of the class, each pair once.
--
-- Holes: rows (of the new release, placed_rows), earlier (of the earlier one), covers (per column
-- the labels that stand for each of its values), labels, original (columns in the order of covers).
SELECT
  combinations.combination,
  classes.class
FROM (
  SELECT DISTINCT
    combination,
    {{ listed(original) }}
  FROM {{ rows }} AS rows
) AS combinations
{% for cover in covers %}
{% set number = loop.index0 %}
JOIN {{ cover }} AS cover_{{ number }}
  ON combinations.original_{{ number }} IS NOT DISTINCT FROM cover_{{ number }}.value
{% endfor %}
JOIN (
  SELECT DISTINCT
    class,
    {{ listed(labels) }}
  FROM {{ earlier }} AS earlier
) AS classes
  ON TRUE
  {% for cover in covers %}
  {% set number = loop.index0 %}
  AND classes.label_{{ number }} IS NOT DISTINCT FROM cover_{{ number }}.label
  {% endfor %}

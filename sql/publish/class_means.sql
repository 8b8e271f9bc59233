-- A row per published record, in which a figure of its class stands in place of some labels.
--
-- Classes are told apart by all labels. Decimals add up to the same in any order; NaN and infinity
-- are none and do not count. All published columns decide the order of the rows.
--
-- Holes: rows (the records by their labels, and once more the columns that figures are of), columns
-- (per published column its name, and of a figure that other column, the decimals that its numbers
-- are, whether it is a median, what it is rounded to multiples of, and its type), keys (the
-- quasi-identifiers), least (fewest numbers of a class with a figure), sorted_by (as in by_value).
SELECT
  {% for column, number, decimals, is_median, step, kind in columns %}
  {% if number is None %}
  labelled.{{ column }},
  {% else %}
  CASE
    WHEN COUNT(TRY_CAST(labelled.{{ number }} AS {{ decimals }})) OVER (
      PARTITION BY {{ listed(keys) }}
    ) >= {{ least }}
    THEN TRY_CAST(ROUND(
      {% if is_median %}MEDIAN{% else %}AVG{% endif %}(
        TRY_CAST(labelled.{{ number }} AS {{ decimals }})
      ) OVER (
        PARTITION BY {{ listed(keys) }}
      ) / {{ step }}
    ) * {{ step }} AS {{ kind }})
  END AS {{ column }},
  {% endif %}
  {% endfor %}
FROM {{ rows }} AS labelled
{% if sorted_by %}
ORDER BY {{ listed(sorted_by) }}
{% endif %}

-- The sizes of a table's classes, by codes: class_size, a row per class.
--
-- Holes: source, maps and words as in coded_rows.
SELECT CAST(COUNT(*) AS BIGINT) AS class_size
FROM {{ source }} AS source
{{ join_words(maps) }}
{% if words %}
GROUP BY
  {% for w in range(words) %}
  {% if not loop.first %}, {% endif %}{{ sum_of_words(maps, w) }}
  {% endfor %}
{% endif %}

-- A row per place: its words, and the published records there.
--
-- Holes: classes (labels, class_size and small), read (attribute, a label, and the words of its
-- place), columns (their numbers), words (the numbers of those
-- words that have bits, with the numbers of the columns that have them), places (their names).
SELECT
  {{ listed(places) }},
  {{ total("class_size") }} AS released
FROM (
  SELECT
    {% for w, numbers in words %}
    {{ sum_of_places("size", numbers, w) }} AS place_{{ w }},
    {% endfor %}
    classes.class_size
  FROM {{ classes }} AS classes
  {% for number in columns %}
  JOIN {{ read }} AS size_{{ number }}
    ON size_{{ number }}.attribute = {{ number }}
    AND classes.label_{{ number }} IS NOT DISTINCT FROM size_{{ number }}.label
  {% endfor %}
  WHERE NOT classes.small
) AS classes
GROUP BY {{ listed(places) }}

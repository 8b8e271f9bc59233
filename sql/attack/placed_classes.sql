-- The released classes by what their labels stand for: the labels, class_size, and per column its
-- place, the number of the node. Prefixes of columns are numbered by their places, too.
--
-- Holes: classes (labels, class_size and small), read (attribute, label and place), columns (their
-- numbers), prefixes (a name each, and the places that it begins with).
SELECT
  placed.*,
  {% for own, places in prefixes %}
  CAST(DENSE_RANK() OVER (ORDER BY {{ listed(places) }}) AS BIGINT) AS {{ own }},
  {% endfor %}
FROM (
  SELECT
    {% for number in columns %}
    classes.label_{{ number }},
    read_{{ number }}.place AS place_{{ number }},
    {% endfor %}
    classes.class_size
  FROM {{ classes }} AS classes
  {% for number in columns %}
  JOIN {{ read }} AS read_{{ number }}
    ON read_{{ number }}.attribute = {{ number }}
    AND classes.label_{{ number }} IS NOT DISTINCT FROM read_{{ number }}.label
  {% endfor %}
  WHERE NOT classes.small
) AS placed

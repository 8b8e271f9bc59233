-- The released classes by what some labels stand for: the labels, class_size, and per label its
-- place, the number of its node. The beginning of a class, its first n labels, is numbered node_n.
--
-- Holes: classes (labels, class_size and small), read (attribute, label and place), columns (the
-- numbers of the labels), beginnings (what each is called, and its places).
SELECT
  placed.*,
  CAST(1 AS BIGINT) AS node_0,
  {% for node, places in beginnings %}
  CAST(DENSE_RANK() OVER (ORDER BY {{ listed(places) }}) AS BIGINT) AS {{ node }},
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

-- A row per product of the leaves of the nodes of published records, and these records.
--
-- Holes: classes (words or labels, class_size and small), sizes (attribute, leaves, and the words
-- or the label of a node), columns (per column its number, and its bits of each word, or none where
-- nodes are known by their label).
SELECT
  product,
  {{ total("class_size") }}
FROM (
  SELECT
    {% for number, masks in columns %}
    {% if not loop.first %} * {% endif %}CAST(size_{{ number }}.leaves AS DOUBLE)
    {% endfor %} AS product,
    classes.class_size
  FROM {{ classes }} AS classes
  {% for number, masks in columns %}
  JOIN {{ sizes }} AS size_{{ number }}
    ON size_{{ number }}.attribute = {{ number }}
    {% if masks is None %}
    AND classes.label_{{ number }} IS NOT DISTINCT FROM size_{{ number }}.label
    {% else %}
    {% for bits in masks %}
    AND (classes.word_{{ loop.index0 }} & {{ bits }}) = size_{{ number }}.word_{{ loop.index0 }}
    {% endfor %}
    {% endif %}
  {% endfor %}
  WHERE NOT classes.small
) AS products
GROUP BY product

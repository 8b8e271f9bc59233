-- A row per class of a node: its words, its class_size, and whether it is suppressed.
--
-- Holes: source (words and size), masks (per word the bits that tell classes apart), words (their
-- names), k (the least size of a class), suppressed (the words of suppressed classes, or none where
-- those smaller than k are).
SELECT
  {% for word in words %}
  classes.{{ word }},
  {% endfor %}
  classes.class_size,
  {% if suppressed is None %}
  classes.class_size < {{ k }} AS small,
  {% else %}
  gone.word_0 IS NOT NULL AS small,
  {% endif %}
FROM (
  SELECT
    {% for bits in masks %}
    word_{{ loop.index0 }} & {{ bits }} AS word_{{ loop.index0 }},
    {% endfor %}
    CAST(SUM(size) AS BIGINT) AS class_size,
  FROM {{ source }}
  GROUP BY ALL
) AS classes
{% if suppressed is not None %}
LEFT JOIN {{ suppressed }} AS gone
  ON {{ equal("classes", "gone", words) }}
{% endif %}

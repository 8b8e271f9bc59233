-- Finished itemsets as generalized values and support, in the order of their codes.
--
-- Holes: itemsets (codes and support), labels (rows of attribute, the code of a node, and label),
-- columns (per attribute its column, and per word its bits), order (the words of a code, the last
-- one first).
SELECT
  {% for column, masks in columns %}
  label_{{ loop.index0 }}.label AS {{ column }},
  {% endfor %}
  itemsets.support
FROM {{ itemsets }} AS itemsets
{% for column, masks in columns %}
{% set attribute = loop.index0 %}
JOIN {{ labels }} AS label_{{ attribute }}
  ON label_{{ attribute }}.attribute = {{ attribute }}
  {% for bits in masks %}
  AND label_{{ attribute }}.code_{{ loop.index0 }} = (itemsets.code_{{ loop.index0 }} & {{ bits }})
  {% endfor %}
{% endfor %}
ORDER BY
  {% for w in order %}
  {% if not loop.first %}, {% endif %}itemsets.code_{{ w }}
  {% endfor %}

-- The closed itemsets: those of which every attribute mined disagrees somewhere.
--
-- Adding all lower bits of an attribute carries into its highest where any of them is set; what all
-- records have set, some have.
--
-- Holes: itemsets (rows of every and some), fields (per word the bits of the attributes mined
-- without the highest of each, and those highest bits).
SELECT *
FROM {{ itemsets }} AS itemsets
WHERE
  {% for lower, highest in fields %}
  {% set w = loop.index0 %}
  {% if w %} AND {% endif %}
  (
    (((some_{{ w }} - every_{{ w }}) & {{ lower }}) + {{ lower }} | (some_{{ w }} - every_{{ w }}))
    & {{ highest }}
  ) = {{ highest }}
  {% endfor %}

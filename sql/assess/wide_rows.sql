-- A row per numbered record with the words of its parts, or per combination of these and its size.
--
-- Holes: numbered (the numbered records), parts (a relation and the rows of each), words (the name
-- of each word, the relation that has it, and what it is called there), ranks (per carried column
-- its name, the rows of its values and their ranks, and the numbered column), entity (the numbered
-- column that says whose record it is, or none), is_sized (whether records alike are counted).
SELECT
  {% for word, part, held in words %}
  {{ part }}.{{ held }} AS {{ word }},
  {% endfor %}
  {% for carried, rows, cell in ranks %}
  {{ carried }}.rank AS {{ carried }},
  {% endfor %}
  {% if entity is not None %}
  source.{{ entity }} AS entity,
  {% endif %}
  {% if is_sized %}
  CAST(COUNT(*) AS BIGINT) AS size,
  {% endif %}
FROM {{ numbered }} AS source
{% for part, rows in parts %}
LEFT JOIN {{ rows }} AS {{ part }}
  ON source.record = {{ part }}.entity
{% endfor %}
{% for carried, rows, cell in ranks %}
LEFT JOIN {{ rows }} AS {{ carried }}
  ON source.{{ cell }} IS NOT DISTINCT FROM {{ carried }}.value
{% endfor %}
{% if is_sized %}
GROUP BY ALL
{% endif %}

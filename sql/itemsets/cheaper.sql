-- Itemsets that cost less than a limit, with what a record at one costs, as far as it has nodes.
--
-- Holes: itemsets (with a code), costs (rows of attribute, the code of a node, and cost), columns
-- (per attribute mined its number, and the words that it has bits in with these), spare (what the
-- other attributes cost at least), limit (whether there is any), below.
WITH costed AS (
  SELECT
    itemsets.*,
    CAST({{ spare }}
    {% for attribute, bits in columns %}
    + cost_{{ attribute }}.cost
    {% endfor %}
    AS BIGINT) AS cost
  FROM {{ itemsets }} AS itemsets
  {% for attribute, own in columns %}
  JOIN {{ costs }} AS cost_{{ attribute }}
    ON cost_{{ attribute }}.attribute = {{ attribute }}
    {% for w, bits in own %}
    AND cost_{{ attribute }}.code_{{ w }} = (itemsets.code_{{ w }} & {{ bits }})
    {% endfor %}
  {% endfor %}
)
SELECT *
FROM costed
{% if limit %}
WHERE cost < {{ below }}
{% endif %}

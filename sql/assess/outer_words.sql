-- Per column how many first words its texts have, and how many last words; in one row.
--
-- Where a text has a comma, what stands before it comes last: Berg, Anna.
--
-- Holes: source (the table), columns (those of texts).
SELECT
  {% for column in columns %}
  CAST(COUNT(DISTINCT CASE
    WHEN {{ column }} LIKE '%,%' THEN SPLIT_PART({{ column }}, ' ', -1)
    ELSE SPLIT_PART({{ column }}, ' ', 1)
  END) AS BIGINT),
  CAST(COUNT(DISTINCT CASE
    WHEN {{ column }} LIKE '%,%' THEN SPLIT_PART({{ column }}, ',', 1)
    ELSE SPLIT_PART({{ column }}, ' ', -1)
  END) AS BIGINT),
  {% endfor %}
FROM {{ source }}

-- Rows of a text: some of the original's, of each column, that its published column does not hold.
--
-- Holes: original (a table), columns (per column of text its name and the published column of that
-- name, or none), released (the published table), shortest and longest (letters), most (texts of a
-- column).
{% for column, published in columns %}
{% if not loop.first %}
UNION
{% endif %}
(
  SELECT text
  FROM (
    SELECT CAST({{ column }} AS VARCHAR) AS text FROM {{ original }}
    {% if published is not None %}
    EXCEPT
    SELECT CAST({{ published }} AS VARCHAR) FROM {{ released }}
    {% endif %}
  ) AS held
  WHERE LENGTH(text) BETWEEN {{ shortest }} AND {{ longest }}
  ORDER BY HASH(text)
  LIMIT {{ most }}
)
{% endfor %}

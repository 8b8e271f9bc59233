-- The values that an attacker guesses from: the lead, a value that most of the released records
-- which it leads to have, and how many values are so.
--
-- Holes: led (lead and node; None where all records are one), values (class_values).
SELECT
  lead,
  value,
  CAST(COUNT(*) OVER (PARTITION BY lead) AS BIGINT) AS guesses
FROM (
  SELECT
    lead,
    value,
    records = MAX(records) OVER (PARTITION BY lead) AS is_guessed
  FROM (
    SELECT
      {% if led is None %}
      CAST(0 AS BIGINT) AS lead,
      {% else %}
      led.lead,
      {% endif %}
      held.value,
      {{ total("held.records") }} AS records
    FROM {{ values }} AS held
    {% if led is not None %}
    JOIN {{ led }} AS led
      ON led.node = held.node
    {% endif %}
    GROUP BY
      {% if led is not None %}
      led.lead,
      {% endif %}
      held.value
  ) AS counted
) AS ranked
WHERE is_guessed

-- Each value's records: value, records (all), and held (those of the furthest class).
--
-- Holes: spread (records by class and value: labels, value, size), furthest (a row of labels and
-- class_size), labels.
SELECT
  spread.value,
  {{ total("spread.size") }} AS records,
  {{ total("CASE WHEN furthest.class_size IS NOT NULL THEN spread.size END") }} AS held
FROM {{ spread }} AS spread
LEFT JOIN {{ furthest }} AS furthest
  ON {{ same("spread", "furthest", labels) }}
GROUP BY spread.value

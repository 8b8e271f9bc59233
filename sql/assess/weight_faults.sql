-- One row: records without a weight, those whose weight is no number from 1 to a most, and those
-- without a household.
--
-- Holes: source (a table), weight (a column, or what is never at fault), number (the weight as a
-- number), household (likewise, NULL for none), most.
SELECT
  {{ count_if("weight IS NULL") }},
  {{ count_if("weight IS NOT NULL AND COALESCE(number < 1 OR number > most, TRUE)") }},
  {{ count_if("household IS NULL") }}
FROM (
  SELECT
    {{ weight }} AS weight,
    {{ number }} AS number,
    {{ household }} AS household,
    {{ most }} AS most
  FROM {{ source }} AS source
) AS held

AUDIT (
  name people_are_five_anonymous
);

-- Groups that are too small or give their diagnosis away; the audit passes where there is none.
SELECT age, postcode, sex
FROM @this_model
GROUP BY age, postcode, sex
HAVING COUNT(*) < 5 OR COUNT(DISTINCT diagnosis) < 2

-- Groups that are too small or give their diagnosis away; dbt's test passes where there is none.
SELECT age, postcode, sex, count(*) AS people, count(DISTINCT diagnosis) AS diagnoses
FROM {{ ref("people_anonymous") }}
GROUP BY age, postcode, sex
HAVING people < 5 OR diagnoses < 2

MODEL (
  name demo.people,
  kind FULL,
  description '2,000 people who do not exist; yours come from a source.'
);

SELECT
  n::BIGINT AS person_id,
  ('person ' || n)::TEXT AS name,
  (18 + HASH('age' || n) % 70)::INTEGER AS age,
  (10000 + HASH('place' || n) % 8 * 10000 + n % 5 * 100)::TEXT AS postcode,
  (CASE WHEN HASH('sex' || n) % 2 = 0 THEN 'female' ELSE 'male' END)::TEXT AS sex,
  (CASE HASH('ill' || n) % 4
    WHEN 0 THEN 'asthma' WHEN 1 THEN 'diabetes' WHEN 2 THEN 'flu' ELSE 'none' END)::TEXT AS diagnosis
FROM RANGE(2000) AS people(n)

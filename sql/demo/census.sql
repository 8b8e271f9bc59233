-- Made-up people: one row per person, fifteen columns, in no order.
-- Holes: records (a table of the numbers of people), seed (any integer).
-- Every value is a function of (record number, seed, attribute), so threads change nothing.
-- HASH(a, b) only combines its arguments' hashes by XOR, so that two attributes drawn by it
-- were copies of one another: each draw is a hash of (the record's hash XOR a number).
-- Thresholds are in thousandths and add up: the frequent values come first.

WITH
records AS (
  SELECT
    record,
    HASH(XOR(CAST(record AS UBIGINT), HASH('census', {{ seed }}))) AS base
  FROM {{ records }}
),
draws AS (
  SELECT
    record,
    base,
    CAST(HASH(XOR(base, 1)) % 1000 AS INTEGER) AS age_slot,
    CAST(HASH(XOR(base, 2)) % 1826 AS INTEGER) AS day_in_band,
    CAST(HASH(XOR(base, 3)) % 1000 AS INTEGER) AS sex_slot,
    CAST(HASH(XOR(base, 4)) % 1000000 AS INTEGER) AS town_slot,
    CAST(HASH(XOR(base, 5)) % 1000 AS INTEGER) AS quarter_slot,
    CAST(HASH(XOR(base, 6)) % 1000 AS INTEGER) AS marital_slot,
    CAST(HASH(XOR(base, 7)) % 1000 AS INTEGER) AS education_slot,
    CAST(HASH(XOR(base, 8)) % 1000 AS INTEGER) AS occupation_slot,
    CAST(HASH(XOR(base, 9)) % 1000 AS INTEGER) AS foreign_slot,
    CAST(HASH(XOR(base, 10)) % 1000 AS INTEGER) AS country_slot,
    CAST(HASH(XOR(base, 11)) % 1000 AS INTEGER) AS household_slot,
    CAST(HASH(XOR(base, 12)) % 1000 AS INTEGER) AS diagnosis_slot,
    CAST(HASH(XOR(base, 13)) % 1000 AS INTEGER) AS missing_slot,
    CAST(HASH(XOR(base, 14)) % 7300 AS INTEGER) AS registered_day,
    CAST(HASH(XOR(base, 15)) % 2000 AS INTEGER) AS name_slot
  FROM records
),
-- the age pyramid in bands of five years, and one of 300 towns by a Zipf-like law
placed AS (
  SELECT
    *,
    CASE
      WHEN age_slot < 46 THEN 0 WHEN age_slot < 94 THEN 5 WHEN age_slot < 142 THEN 10
      WHEN age_slot < 192 THEN 15 WHEN age_slot < 246 THEN 20 WHEN age_slot < 306 THEN 25
      WHEN age_slot < 372 THEN 30 WHEN age_slot < 437 THEN 35 WHEN age_slot < 500 THEN 40
      WHEN age_slot < 562 THEN 45 WHEN age_slot < 636 THEN 50 WHEN age_slot < 716 THEN 55
      WHEN age_slot < 792 THEN 60 WHEN age_slot < 856 THEN 65 WHEN age_slot < 908 THEN 70
      WHEN age_slot < 948 THEN 75 WHEN age_slot < 978 THEN 80 WHEN age_slot < 993 THEN 85
      WHEN age_slot < 999 THEN 90 ELSE 95
    END AS lowest_age,
    CAST(FLOOR(3 * EXP(4.6151 * town_slot / 1e6) - 3) AS INTEGER) AS town
  FROM draws
),
-- the larger a town, the more postcodes it has
born AS (
  SELECT
    *,
    lowest_age * 365 + lowest_age // 4 + day_in_band AS days_lived,
    (town * 389 + 17) % 1000 * 100
      + (quarter_slot * quarter_slot // 1000 * (2 + 50 // (2 + town)) // 1000 * 37 + town * 13)
      % 100 AS place
  FROM placed
),
aged AS (
  SELECT
    *,
    DATE '2024-12-31' - days_lived AS birth_date,
    CAST(2024 - EXTRACT(YEAR FROM DATE '2024-12-31' - days_lived) AS INTEGER) AS age
  FROM born
),
staged AS (
  SELECT
    *,
    CASE
      WHEN age < 6 THEN 0 WHEN age < 16 THEN 1 WHEN age < 20 THEN 2 WHEN age < 30 THEN 3
      WHEN age < 45 THEN 4 WHEN age < 65 THEN 5 WHEN age < 80 THEN 6 ELSE 7
    END AS stage,
    CASE
      WHEN sex_slot < 3 THEN 'other'
      WHEN sex_slot < CASE WHEN age < 65 THEN 496 WHEN age < 80 THEN 540 ELSE 630 END THEN 'female'
      ELSE 'male'
    END AS sex
  FROM aged
),
taught AS (
  SELECT
    *,
    CASE stage
      WHEN 0 THEN 'single' WHEN 1 THEN 'single'
      WHEN 2 THEN CASE WHEN marital_slot < 995 THEN 'single' ELSE 'married' END
      WHEN 3 THEN CASE
        WHEN marital_slot < 820 THEN 'single' WHEN marital_slot < 980 THEN 'married'
        WHEN marital_slot < 991 THEN 'divorced' WHEN marital_slot < 999 THEN 'partnership'
        ELSE 'widowed'
      END
      WHEN 4 THEN CASE
        WHEN marital_slot < 545 THEN 'married' WHEN marital_slot < 905 THEN 'single'
        WHEN marital_slot < 965 THEN 'divorced' WHEN marital_slot < 985 THEN 'separated'
        WHEN marital_slot < 997 THEN 'partnership' ELSE 'widowed'
      END
      WHEN 5 THEN CASE
        WHEN marital_slot < 620 THEN 'married' WHEN marital_slot < 790 THEN 'single'
        WHEN marital_slot < 940 THEN 'divorced' WHEN marital_slot < 967 THEN 'widowed'
        WHEN marital_slot < 992 THEN 'separated' ELSE 'partnership'
      END
      WHEN 6 THEN CASE
        WHEN marital_slot < 630 THEN 'married' WHEN marital_slot < 788 THEN 'widowed'
        WHEN marital_slot < 914 THEN 'divorced' WHEN marital_slot < 984 THEN 'single'
        WHEN marital_slot < 996 THEN 'separated' ELSE 'partnership'
      END
      ELSE CASE
        WHEN marital_slot < 490 THEN 'widowed' WHEN marital_slot < 890 THEN 'married'
        WHEN marital_slot < 946 THEN 'divorced' WHEN marital_slot < 996 THEN 'single'
        ELSE 'separated'
      END
    END AS marital_status,
    CASE stage
      WHEN 0 THEN 'none'
      WHEN 1 THEN CASE WHEN education_slot < 550 THEN 'primary' ELSE 'none' END
      WHEN 2 THEN CASE
        WHEN education_slot < 740 THEN 'lower secondary'
        WHEN education_slot < 960 THEN 'upper secondary' ELSE 'primary'
      END
      WHEN 3 THEN CASE
        WHEN education_slot < 330 THEN 'upper secondary'
        WHEN education_slot < 630 THEN 'vocational' WHEN education_slot < 790 THEN 'bachelor'
        WHEN education_slot < 915 THEN 'lower secondary' WHEN education_slot < 983 THEN 'master'
        WHEN education_slot < 998 THEN 'primary' ELSE 'doctorate'
      END
      WHEN 4 THEN CASE
        WHEN education_slot < 400 THEN 'vocational'
        WHEN education_slot < 530 THEN 'upper secondary'
        WHEN education_slot < 652 THEN 'lower secondary' WHEN education_slot < 767 THEN 'bachelor'
        WHEN education_slot < 877 THEN 'master' WHEN education_slot < 957 THEN 'short tertiary'
        WHEN education_slot < 977 THEN 'primary' WHEN education_slot < 992 THEN 'doctorate'
        ELSE 'none'
      END
      WHEN 5 THEN CASE
        WHEN education_slot < 475 THEN 'vocational'
        WHEN education_slot < 625 THEN 'lower secondary'
        WHEN education_slot < 725 THEN 'short tertiary' WHEN education_slot < 816 THEN 'master'
        WHEN education_slot < 901 THEN 'upper secondary' WHEN education_slot < 946 THEN 'bachelor'
        WHEN education_slot < 976 THEN 'primary' WHEN education_slot < 990 THEN 'doctorate'
        ELSE 'none'
      END
      WHEN 6 THEN CASE
        WHEN education_slot < 470 THEN 'vocational'
        WHEN education_slot < 695 THEN 'lower secondary' WHEN education_slot < 765 THEN 'primary'
        WHEN education_slot < 835 THEN 'short tertiary' WHEN education_slot < 895 THEN 'master'
        WHEN education_slot < 950 THEN 'upper secondary' WHEN education_slot < 975 THEN 'bachelor'
        WHEN education_slot < 990 THEN 'none' ELSE 'doctorate'
      END
      ELSE CASE
        WHEN education_slot < 350 THEN 'vocational'
        WHEN education_slot < 680 THEN 'lower secondary' WHEN education_slot < 840 THEN 'primary'
        WHEN education_slot < 884 THEN 'master' WHEN education_slot < 924 THEN 'upper secondary'
        WHEN education_slot < 964 THEN 'short tertiary' WHEN education_slot < 994 THEN 'none'
        ELSE 'doctorate'
      END
    END AS education
  FROM staged
),
-- occupation: 3 to 5 are the tiers of education at working age, 8 is youth with no more than
-- school; household: 0 child, 1 never in a union, 2 in a union, 3 formerly, 4 in a union from 65
profiled AS (
  SELECT
    *,
    CASE
      WHEN stage < 3 OR stage > 5 THEN stage
      WHEN education IN ('none', 'primary', 'lower secondary') THEN 3
      WHEN stage = 3 AND education = 'upper secondary' THEN 8
      WHEN education IN ('upper secondary', 'vocational') THEN 4
      ELSE 5
    END AS occupation_profile,
    CASE
      WHEN stage < 3 THEN 0 WHEN marital_status = 'single' THEN 1
      WHEN marital_status NOT IN ('married', 'partnership') THEN 3 WHEN stage < 6 THEN 2 ELSE 4
    END AS household_profile,
    CASE WHEN stage < 3 THEN 0 WHEN stage < 6 THEN 1 ELSE 2 END AS diagnosis_profile
  FROM taught
),
employed AS (
  SELECT
    *,
    CASE occupation_profile
      WHEN 0 THEN 'child' WHEN 1 THEN 'pupil'
      WHEN 2 THEN CASE
        WHEN occupation_slot < 560 THEN 'pupil' WHEN occupation_slot < 800 THEN 'apprentice'
        WHEN occupation_slot < 860 THEN 'student'
        WHEN occupation_slot < 910 THEN 'sales assistant'
        WHEN occupation_slot < 940 THEN 'warehouse worker'
        WHEN occupation_slot < 970 THEN 'kitchen helper' ELSE 'unemployed'
      END
      WHEN 3 THEN CASE
        WHEN occupation_slot < 145 THEN 'sales assistant'
        WHEN occupation_slot < 270 THEN 'cleaner'
        WHEN occupation_slot < 395 THEN 'warehouse worker'
        WHEN occupation_slot < 515 THEN 'unemployed' WHEN occupation_slot < 620 THEN 'driver'
        WHEN occupation_slot < 700 THEN 'care assistant'
        WHEN occupation_slot < 780 THEN 'homemaker' WHEN occupation_slot < 855 THEN 'builder'
        WHEN occupation_slot < 925 THEN 'machine operator'
        WHEN occupation_slot < 980 THEN 'kitchen helper' ELSE 'farm worker'
      END
      WHEN 4 THEN CASE
        WHEN occupation_slot < 190 THEN 'office clerk'
        WHEN occupation_slot < 310 THEN 'sales assistant' WHEN occupation_slot < 385 THEN 'nurse'
        WHEN occupation_slot < 455 THEN 'mechanic'
        WHEN occupation_slot < 520 THEN 'machine operator'
        WHEN occupation_slot < 575 THEN 'electrician' WHEN occupation_slot < 625 THEN 'driver'
        WHEN occupation_slot < 670 THEN 'bank clerk' WHEN occupation_slot < 715 THEN 'technician'
        WHEN occupation_slot < 760 THEN 'care assistant'
        WHEN occupation_slot < 805 THEN 'unemployed'
        WHEN occupation_slot < 845 THEN 'childcare worker'
        WHEN occupation_slot < 880 THEN 'builder' WHEN occupation_slot < 915 THEN 'homemaker'
        WHEN occupation_slot < 945 THEN 'cook' WHEN occupation_slot < 960 THEN 'police officer'
        WHEN occupation_slot < 975 THEN 'hairdresser' WHEN occupation_slot < 988 THEN 'manager'
        ELSE 'farmer'
      END
      WHEN 5 THEN CASE
        WHEN occupation_slot < 170 THEN 'office clerk' WHEN occupation_slot < 300 THEN 'engineer'
        WHEN occupation_slot < 430 THEN 'teacher' WHEN occupation_slot < 550 THEN 'manager'
        WHEN occupation_slot < 640 THEN 'software developer'
        WHEN occupation_slot < 710 THEN 'accountant' WHEN occupation_slot < 770 THEN 'physician'
        WHEN occupation_slot < 830 THEN 'social worker'
        WHEN occupation_slot < 875 THEN 'technician' WHEN occupation_slot < 905 THEN 'unemployed'
        WHEN occupation_slot < 930 THEN 'scientist' WHEN occupation_slot < 955 THEN 'homemaker'
        WHEN occupation_slot < 975 THEN 'lawyer' WHEN occupation_slot < 987 THEN 'pharmacist'
        WHEN occupation_slot < 997 THEN 'journalist' ELSE 'judge'
      END
      WHEN 6 THEN CASE
        WHEN occupation_slot < 915 THEN 'retired' WHEN occupation_slot < 950 THEN 'homemaker'
        WHEN occupation_slot < 970 THEN 'office clerk' WHEN occupation_slot < 980 THEN 'driver'
        WHEN occupation_slot < 988 THEN 'farmer' WHEN occupation_slot < 996 THEN 'manager'
        ELSE 'physician'
      END
      WHEN 7 THEN CASE WHEN occupation_slot < 995 THEN 'retired' ELSE 'farmer' END
      ELSE CASE
        WHEN occupation_slot < 560 THEN 'student'
        WHEN occupation_slot < 670 THEN 'sales assistant'
        WHEN occupation_slot < 765 THEN 'office clerk'
        WHEN occupation_slot < 845 THEN 'apprentice' WHEN occupation_slot < 895 THEN 'unemployed'
        WHEN occupation_slot < 940 THEN 'warehouse worker' WHEN occupation_slot < 975 THEN 'cook'
        ELSE 'driver'
      END
    END AS occupation,
    HASH(XOR(base, 16)) AS income_bits
  FROM profiled
)
SELECT
  10000000000
    + (
      CAST(record AS BIGINT) * 6364136223
      + CAST(HASH('census', {{ seed }}) % 10000000000 AS BIGINT)
    ) % 10000000000 AS person_id,
  ([
    'Arvid', 'Bosse', 'Corin', 'Dagur', 'Eilert', 'Fiete', 'Gunnar', 'Harm', 'Ivo', 'Jelle',
    'Knut', 'Lasse', 'Momme', 'Nils', 'Ole', 'Piet', 'Rurik', 'Sven', 'Tjark', 'Wulf',
    'Alva', 'Brenna', 'Cira', 'Dorle', 'Elin', 'Fenja', 'Gesa', 'Hela', 'Ilva', 'Jorun',
    'Kaja', 'Liv', 'Mirte', 'Nelia', 'Ortrun', 'Pella', 'Runa', 'Sanne', 'Tilda', 'Yrsa'
  ])[name_slot % 20 + CASE WHEN sex = 'female' OR sex_slot < 1 THEN 21 ELSE 1 END] || ([
    ' Alderbach', ' Alderdahl', ' Alderhagen', ' Alderhof', ' Alderlund', ' Birkenhardt',
    ' Birkenhorst', ' Birkenmann', ' Birkensee', ' Birkenwig', ' Brombach', ' Bromdahl',
    ' Bromhagen', ' Brommoor', ' Bromstein', ' Dornbart', ' Dornfeld', ' Dornhardt', ' Dornhorst',
    ' Dornmann', ' Eichelbach', ' Eichelheim', ' Eichelkamp', ' Eichelmoor', ' Eichelstein',
    ' Farnbart', ' Farnfeld', ' Farnhardt', ' Farnrode', ' Farnwald', ' Ginsterburg',
    ' Ginstergarten', ' Ginsterheim', ' Ginsterkamp', ' Ginstermoor', ' Hagelbart', ' Hagelhof',
    ' Hagellund', ' Hagelrode', ' Hagelwald', ' Immenburg', ' Immengarten', ' Immenheim',
    ' Immensee', ' Immenwig', ' Kieseldahl', ' Kieselhagen', ' Kieselhof', ' Kiesellund',
    ' Kieselrode', ' Lindburg', ' Lindhorst', ' Lindmann', ' Lindsee', ' Lindwig', ' Marderbach',
    ' Marderdahl', ' Marderhagen', ' Marderhof', ' Marderstein', ' Nebelfeld', ' Nebelhardt',
    ' Nebelhorst', ' Nebelmann', ' Nebelsee', ' Otterbach', ' Otterdahl', ' Otterkamp',
    ' Ottermoor', ' Otterstein', ' Quellbart', ' Quellfeld', ' Quellhardt', ' Quellhorst',
    ' Quellwald', ' Rabengarten', ' Rabenheim', ' Rabenkamp', ' Rabenmoor', ' Rabenstein',
    ' Salmbart', ' Salmfeld', ' Salmlund', ' Salmrode', ' Salmwald', ' Tannenburg',
    ' Tannengarten', ' Tannenheim', ' Tannenkamp', ' Tannenwig', ' Ulmenhagen', ' Ulmenhof',
    ' Ulmenlund', ' Ulmenrode', ' Ulmenwald', ' Wieselburg', ' Wieselgarten', ' Wieselmann',
    ' Wieselsee', ' Wieselwig'
  ])[1 + name_slot // 20] AS name,
  birth_date,
  age,
  sex,
  CASE WHEN missing_slot >= 10 THEN SUBSTR(CAST(100000 + place AS VARCHAR), 2) END AS postcode,
  CASE WHEN missing_slot >= 10 THEN ([
    'Northern Marsh', 'Amber Coast', 'Lakeland', 'Heath', 'River Plain', 'Coalfield', 'Vineyards',
    'Black Hills', 'Foreland', 'High Valleys'
  ])[1 + place // 10000] END AS region,
  marital_status,
  education,
  CASE WHEN missing_slot NOT BETWEEN 10 AND 29 THEN occupation END AS occupation,
  CASE
    WHEN foreign_slot
      >= CASE WHEN stage > 5 THEN 50 WHEN town < 20 THEN 200 WHEN town < 100 THEN 120 ELSE 60 END
      THEN 'Germany'
    ELSE CASE
      WHEN country_slot < 141 THEN 'Turkey' WHEN country_slot < 241 THEN 'Ukraine'
      WHEN country_slot < 326 THEN 'Syria' WHEN country_slot < 406 THEN 'Romania'
      WHEN country_slot < 484 THEN 'Poland' WHEN country_slot < 544 THEN 'Italy'
      WHEN country_slot < 586 THEN 'Croatia' WHEN country_slot < 626 THEN 'Bulgaria'
      WHEN country_slot < 664 THEN 'Afghanistan' WHEN country_slot < 698 THEN 'Greece'
      WHEN country_slot < 728 THEN 'Russia' WHEN country_slot < 755 THEN 'Iraq'
      WHEN country_slot < 780 THEN 'Serbia' WHEN country_slot < 802 THEN 'Hungary'
      WHEN country_slot < 824 THEN 'India' WHEN country_slot < 843 THEN 'Spain'
      WHEN country_slot < 861 THEN 'Austria' WHEN country_slot < 876 THEN 'France'
      WHEN country_slot < 889 THEN 'Portugal' WHEN country_slot < 902 THEN 'China'
      WHEN country_slot < 915 THEN 'Iran' WHEN country_slot < 927 THEN 'United States'
      WHEN country_slot < 938 THEN 'Vietnam' WHEN country_slot < 948 THEN 'Netherlands'
      WHEN country_slot < 956 THEN 'Nigeria' WHEN country_slot < 964 THEN 'Morocco'
      WHEN country_slot < 970 THEN 'Brazil' WHEN country_slot < 976 THEN 'Pakistan'
      WHEN country_slot < 980 THEN 'Ghana' WHEN country_slot < 984 THEN 'Egypt'
      WHEN country_slot < 987 THEN 'Japan' WHEN country_slot < 990 THEN 'Mexico'
      WHEN country_slot < 992 THEN 'Sweden' WHEN country_slot < 994 THEN 'Colombia'
      WHEN country_slot < 996 THEN 'Kenya' WHEN country_slot < 997 THEN 'Canada'
      WHEN country_slot < 998 THEN 'Australia' WHEN country_slot < 999 THEN 'Chile'
      ELSE 'New Zealand'
    END
  END AS citizenship,
  CASE household_profile
      WHEN 0 THEN CASE
        WHEN household_slot < 410 THEN 4 WHEN household_slot < 670 THEN 3
        WHEN household_slot < 835 THEN 5 WHEN household_slot < 925 THEN 2
        WHEN household_slot < 975 THEN 6 WHEN household_slot < 992 THEN 7 ELSE 8
      END
      WHEN 1 THEN CASE
        WHEN household_slot < 480 THEN 1 WHEN household_slot < 750 THEN 2
        WHEN household_slot < 890 THEN 3 WHEN household_slot < 970 THEN 4
        WHEN household_slot < 992 THEN 5 ELSE 6
      END
      WHEN 2 THEN CASE
        WHEN household_slot < 350 THEN 2 WHEN household_slot < 630 THEN 4
        WHEN household_slot < 880 THEN 3 WHEN household_slot < 965 THEN 5
        WHEN household_slot < 988 THEN 6 WHEN household_slot < 996 THEN 7 ELSE 8
      END
      WHEN 3 THEN CASE
        WHEN household_slot < 700 THEN 1 WHEN household_slot < 890 THEN 2
        WHEN household_slot < 970 THEN 3 WHEN household_slot < 995 THEN 4 ELSE 5
      END
      ELSE CASE
        WHEN household_slot < 930 THEN 2 WHEN household_slot < 980 THEN 3
        WHEN household_slot < 995 THEN 4 ELSE 5
      END
    END AS household_size,
  -- log-normal about a typical income: a sum of four uniform numbers stands for the normal one
  CASE
    WHEN missing_slot BETWEEN 30 AND 54 THEN NULL
    WHEN stage < 2 OR occupation = 'pupil' THEN 0
    ELSE 100 * CAST(ROUND(
      EXP(0.6 * (CAST(
        income_bits % 65536 + (income_bits >> 16) % 65536
        + (income_bits >> 32) % 65536 + (income_bits >> 48) AS DOUBLE
      ) / 65536 - 2))
      * CASE WHEN stage = 3 THEN 0.85 WHEN stage = 5 THEN 1.15 ELSE 1.0 END
      * CASE
        WHEN occupation = 'retired' THEN 210
        WHEN occupation IN ('office clerk', 'nurse', 'machine operator', 'mechanic') THEN 350
        WHEN occupation IN ('physician', 'manager', 'lawyer', 'judge') THEN 820
        WHEN occupation IN ('engineer', 'software developer', 'scientist', 'pharmacist') THEN 630
        WHEN occupation IN ('teacher', 'accountant', 'technician', 'journalist') THEN 500
        WHEN occupation IN ('homemaker', 'student') THEN 50
        WHEN occupation IN ('unemployed', 'apprentice') THEN 110
        WHEN occupation IN ('cleaner', 'kitchen helper', 'hairdresser', 'farm worker') THEN 195
        WHEN occupation IN ('sales assistant', 'driver', 'care assistant', 'cook') THEN 255
        ELSE 350
      END
    ) AS INTEGER)
  END AS income,
  CASE diagnosis_profile
      WHEN 0 THEN CASE
        WHEN diagnosis_slot < 520 THEN 'no finding'
        WHEN diagnosis_slot < 820 THEN 'respiratory infection'
        WHEN diagnosis_slot < 900 THEN 'asthma' WHEN diagnosis_slot < 955 THEN 'fracture'
        WHEN diagnosis_slot < 980 THEN 'depression' WHEN diagnosis_slot < 991 THEN 'epilepsy'
        WHEN diagnosis_slot < 997 THEN 'diabetes' ELSE 'cancer'
      END
      WHEN 1 THEN CASE
        WHEN diagnosis_slot < 350 THEN 'no finding' WHEN diagnosis_slot < 540 THEN 'back pain'
        WHEN diagnosis_slot < 680 THEN 'respiratory infection'
        WHEN diagnosis_slot < 790 THEN 'hypertension' WHEN diagnosis_slot < 880 THEN 'depression'
        WHEN diagnosis_slot < 917 THEN 'asthma' WHEN diagnosis_slot < 952 THEN 'diabetes'
        WHEN diagnosis_slot < 974 THEN 'fracture' WHEN diagnosis_slot < 989 THEN 'cancer'
        WHEN diagnosis_slot < 995 THEN 'heart failure' WHEN diagnosis_slot < 999 THEN 'epilepsy'
        ELSE 'HIV infection'
      END
      ELSE CASE
        WHEN diagnosis_slot < 310 THEN 'hypertension' WHEN diagnosis_slot < 460 THEN 'no finding'
        WHEN diagnosis_slot < 595 THEN 'diabetes' WHEN diagnosis_slot < 725 THEN 'back pain'
        WHEN diagnosis_slot < 815 THEN 'heart failure' WHEN diagnosis_slot < 880 THEN 'cancer'
        WHEN diagnosis_slot < 930 THEN 'respiratory infection'
        WHEN diagnosis_slot < 970 THEN 'depression' WHEN diagnosis_slot < 990 THEN 'fracture'
        ELSE 'asthma'
      END
    END AS diagnosis,
  DATE '2024-12-31' - registered_day % (days_lived + 1) AS registered
FROM employed

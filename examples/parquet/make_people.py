"""Writes people.parquet: 2,000 people who do not exist, the same ones every time."""

import duckdb

PEOPLE = """
    SELECT n AS person_id,
           'person ' || n AS name,
           (18 + hash('age' || n) % 70)::INTEGER AS age,
           (10000 + hash('place' || n) % 8 * 10000 + n % 5 * 100)::VARCHAR AS postcode,
           ['female', 'male'][1 + (hash('sex' || n) % 2)::INTEGER] AS sex,
           ['asthma', 'diabetes', 'flu', 'none'][1 + (hash('ill' || n) % 4)::INTEGER] AS diagnosis
    FROM range(2000) AS people(n)
"""

if __name__ == "__main__":
    duckdb.sql(PEOPLE).write_parquet("people.parquet")

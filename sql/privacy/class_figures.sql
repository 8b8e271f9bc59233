-- One row per class: how the values of a sensitive attribute are spread in it.
--
-- class_size (records, NULLs of the attribute included), counted (n, those that count, or the
-- persons with a value that counts, of whom shares are then),
-- distinct_values, largest (r_1, the records of the most frequent value), and as needed entropy
-- [nats], tail_l (n without the l - 1 largest counts), the distances to the distribution of the
-- table, exceeding and favoured. A class without any value that counts has zeros.
--
-- Whole numbers are counted exactly, and sums of logarithms are taken in whole parts, so neither
-- threads nor the order of the rows can change a figure.
--
-- Holes: source (rows of the keys, value and size), keys (what tells classes apart), needed (which
-- figures are), grouped (whether the source has one row per class and value), persons (whether it
-- has one per class, value and entity, whose persons count), reference (rows of reference, of which
-- distances without an order read value, records and nodes alone), records
-- (its records that count, N), members (those, or its persons with a value that counts), all_values
-- (its values, m), levels (the inner ones of the hierarchy), height (of it, 1 or more), is_wide
-- (whether products of counts are wider than a BIGINT).
{% set size = "size" %}
{% if not grouped %}
{% set size = "CAST(SUM(size) AS BIGINT)" %}
{% endif %}
WITH
-- Records per class and value: all (size), and those that count (held).
value_counts AS (
  SELECT
    {{ listed(keys) }},
    value,
    {{ size }} AS size,
    {% if needed.nulls %}
    {{ size }} AS held,
    {% else %}
    CASE WHEN value IS NOT NULL THEN {{ size }} END AS held,
    {% endif %}
  FROM {{ source }} AS source
  {% if not grouped %}
  GROUP BY
    {{ listed(keys) }},
    value
  {% endif %}
)
{% set rows = "value_counts" %}
{% if needed.distances %}
-- What the table has of each value: C records, C and those of the values before, and its nodes.
, placed AS (
  SELECT
    {% for key in keys %}
    value_counts.{{ key }},
    {% endfor %}
    value_counts.size,
    value_counts.held,
    reference.records,
    {% if needed.in_order %}
    reference.rank,
    reference.below,
    {% endif %}
    {% for level in levels %}
    reference.node_{{ level }},
    reference.node_{{ level }}_records,
    {% endfor %}
  FROM value_counts
  LEFT JOIN {{ reference }} AS reference
    {% if needed.nulls %}
    ON value_counts.value IS NOT DISTINCT FROM reference.value
    {% else %}
    ON value_counts.value = reference.value
    {% endif %}
)
{% set rows = "placed" %}
{% endif %}
{% if needed.has_shares and not needed.in_order %}
-- The records of the class that count, n, by a join, since a window would sort.
, sized AS (
  SELECT
    placed.*,
    sizes.counted
  FROM placed
  JOIN (
    SELECT
      {{ listed(keys) }},
      CAST(SUM(held) AS BIGINT) AS counted
    FROM placed
    GROUP BY {{ listed(keys) }}
  ) AS sizes
    ON {{ same("placed", "sizes", keys) }}
)
{% set rows = "sized" %}
{% endif %}
{% if needed.in_order %}
-- In the order of the values: n, the records through each value, and the next value of the class.
, in_order AS (
  SELECT
    *,
    CAST(SUM(held) OVER (PARTITION BY {{ listed(keys) }}) AS BIGINT) AS counted,
    CAST(SUM(held) OVER (PARTITION BY {{ listed(keys) }} ORDER BY rank) AS BIGINT) AS through,
    COALESCE(
      LEAD(rank) OVER (PARTITION BY {{ listed(keys) }} ORDER BY rank),
      {{ all_values }}
    ) AS next_rank,
    CAST(COALESCE(
      LEAD(below) OVER (PARTITION BY {{ listed(keys) }} ORDER BY rank),
      (SELECT SUM(reached) FROM {{ reference }} AS reference)
    ) AS BIGINT) AS next_below,
  FROM {{ rows }}
)
{% set rows = "in_order" %}
{% endif %}
{% if needed.has_far_tail %}
-- The place of each value of the class, the most frequent first.
, by_size AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY {{ listed(keys) }} ORDER BY held DESC NULLS LAST) AS place,
  FROM {{ rows }}
)
{% set rows = "by_size" %}
{% endif %}
{% if needed.scaled %}
-- The terms (p - q) |ln(p / q)| in whole parts: at most ln N each, so that a BIGINT holds them.
, scaled_terms AS (
  SELECT
    *,
    CAST(
      CAST(held * {{ records }} - records * counted AS DOUBLE)
      / (CAST(counted AS DOUBLE) * {{ records }})
      * ABS(LN(CAST(held * {{ records }} AS DOUBLE) / CAST(records * counted AS DOUBLE)))
      * 1125899906842624
    AS BIGINT) AS term,
  FROM {{ rows }}
),
-- The sums of the terms up to each value.
scaled_sums AS (
  SELECT
    *,
    SUM(term) OVER (PARTITION BY {{ listed(keys) }} ORDER BY rank) AS scaled,
    SUM(ABS(term)) OVER (PARTITION BY {{ listed(keys) }} ORDER BY rank) AS scaled_literal,
  FROM scaled_terms
)
{% set rows = "scaled_sums" %}
{% endif %}
-- The sum of max(c N - n C, 0) over the values, of a table of N records.
{% macro excess(whole) %}
COALESCE(
  SUM(
    CASE
      WHEN held * {{ whole }} > records * counted
      THEN held * {{ whole }} - records * counted
    END
  ),
  0
)
{% endmacro %}
{% if "hierarchical" in needed.distances and levels %}
-- The excess of a class over its share of every inner node of the hierarchy.
, moved AS (
  SELECT
    {{ listed(keys) }},
    SUM(moved) AS moved
  FROM (
    {% for level in levels %}
    {% if not loop.first %}
    UNION ALL
    {% endif %}
    SELECT
      {{ listed(keys) }},
      {{ excess(records) }} AS moved
    FROM (
      SELECT
        {{ listed(keys) }},
        counted,
        CAST(SUM(held) AS BIGINT) AS held,
        MAX(node_{{ level }}_records) AS records
      FROM {{ rows }}
      GROUP BY
        {{ listed(keys) }},
        counted,
        node_{{ level }}
    ) AS nodes
    GROUP BY {{ listed(keys) }}
    {% endfor %}
  ) AS levels
  GROUP BY {{ listed(keys) }}
),
with_moved AS (
  SELECT
    {{ rows }}.*,
    moved.moved
  FROM {{ rows }}
  LEFT JOIN moved
    ON {{ same(rows, "moved", keys) }}
)
{% set rows = "with_moved" %}
{% endif %}
{% if "ordered" in needed.distances %}
-- From a value of a class up to its next one, at the ranks i from rank to next_rank - 1, the class
-- has reached a of its n records (through) and the table Q_i of its N: the terms of the distance
-- are |a N - n Q_i|. Q_i ascends, so they change their sign at the rank `turn`, the number of i
-- with n Q_i < a N, which is to say Q_i < ceil(a N / n), the mark.
, marked AS (
  SELECT
    *,
    CAST((through * {{ records }} + counted - 1) // counted AS BIGINT) AS mark
  FROM {{ rows }}
),
-- The distinct marks, with a `reached` of NULL, and the Q of the table, in one order: a mark comes
-- before a Q of its own height, so only smaller ones are before it.
turns AS (
  SELECT
    mark,
    reached,
    COUNT(reached) OVER (ORDER BY mark, reached NULLS FIRST) AS turn,
    CAST(
      COALESCE(SUM(reached) OVER (ORDER BY mark, reached NULLS FIRST), 0)
    AS BIGINT) AS turn_below
  FROM (
    SELECT DISTINCT
      mark,
      NULLIF(mark, mark) AS reached
    FROM marked
    UNION ALL
    SELECT
      reached AS mark,
      reached
    FROM {{ reference }} AS reference
  ) AS axis
),
turned AS (
  SELECT
    marked.*,
    turns.turn,
    turns.turn_below
  FROM marked
  LEFT JOIN turns
    ON marked.mark = turns.mark
    AND turns.reached IS NULL
)
{% set rows = "turned" %}
-- The sum of a N - n Q_i over some ranks, with the sum of their Q_i.
{% macro terms(ranks, sum) %}
(
  {{ exact(ranks, is_wide) }} * through * {{ records }}
  - {{ exact(sum, is_wide) }} * counted
)
{% endmacro %}
{% endif %}
{% set n = total("held") %}
{% set class_members = n %}
{% set row_members = "counted" %}
{% if persons %}
-- The persons of each class with a value that counts; who has several is one all the same.
, persons AS (
  SELECT
    {{ listed(keys) }},
    CAST(COUNT(*) AS BIGINT) AS persons
  FROM (
    SELECT DISTINCT
      {{ listed(keys) }},
      entity
    FROM {{ source }} AS source
    {% if not needed.nulls %}
    WHERE value IS NOT NULL
    {% endif %}
  ) AS members
  GROUP BY {{ listed(keys) }}
),
with_persons AS (
  SELECT
    {{ rows }}.*,
    persons.persons
  FROM {{ rows }}
  LEFT JOIN persons
    ON {{ same(rows, "persons", keys) }}
)
{% set rows = "with_persons" %}
{% set class_members = "COALESCE(MAX(persons), 0)" %}
{% set row_members = "persons" %}
{% endif %}
SELECT
  {{ listed(keys) }},
  {{ total("size") }} AS class_size,
  {{ class_members }} AS counted,
  CAST(COUNT(held) AS BIGINT) AS distinct_values,
  COALESCE(MAX(held), 0) AS largest,
  {% if needed.entropy %}
  -- H = ln n - (sum c ln c) / n, exactly 0 for one value.
  CASE
    WHEN COUNT(held) > 1
    THEN LN({{ n }}) - {{ real_sum("held * LN(held)") }} / {{ n }}
    ELSE 0
  END AS entropy,
  {% endif %}
  {% for l in needed.tails %}
  {% if l == 1 %}
  {{ n }} AS tail_1,
  {% elif l == 2 %}
  {{ n }} - COALESCE(MAX(held), 0) AS tail_2,
  {% else %}
  {{ n }}
  - CAST(COALESCE(SUM(CASE WHEN place < {{ l }} THEN held END), 0) AS BIGINT) AS tail_{{ l }},
  {% endif %}
  {% endfor %}
  {% if "equal" in needed.distances %}
  -- P and Q both add up to one, so what exceeds is half of the difference.
  COALESCE(
    CAST({{ excess(records) }} AS DOUBLE) / NULLIF(CAST({{ n }} AS DOUBLE) * {{ records }}, 0),
    0
  ) AS distance_equal,
  {% endif %}
  {% if "hierarchical" in needed.distances %}
  -- The mean of the equal distance over the levels below the top.
  COALESCE(
    CAST(
      {{ excess(records) }}
      {% if levels %}
      + COALESCE(MAX(moved), 0)
      {% endif %}
    AS DOUBLE) / NULLIF(CAST({{ n }} AS DOUBLE) * {{ records }} * {{ height }}, 0),
    0
  ) AS distance_hierarchical,
  {% endif %}
  {% if "ordered" in needed.distances %}
  -- The terms after each value, whose sign changes at the turn, and before the first: n Q_i.
  COALESCE(
    CAST(
      SUM(
        CASE WHEN held IS NOT NULL THEN
          CASE
            WHEN turn >= next_rank
            THEN {{ terms("next_rank - rank", "next_below - below") }}
            WHEN turn <= rank
            THEN 0 - {{ terms("next_rank - rank", "next_below - below") }}
            ELSE
              {{ terms("turn - rank", "turn_below - below") }}
              - {{ terms("next_rank - turn", "next_below - turn_below") }}
          END
          + CASE WHEN through = held THEN {{ exact("below", is_wide) }} * counted ELSE 0 END
        END
      )
    AS DOUBLE) / NULLIF(CAST({{ n }} AS DOUBLE) * {{ records }} * ({{ all_values }} - 1), 0),
    0
  ) AS distance_ordered,
  {% endif %}
  {% if "kl" in needed.distances %}
  -- (sum c ln(c / C)) / n + ln(N / n).
  COALESCE(
    {{ real_sum("(held * LN(CAST(held AS DOUBLE) / CAST(records AS DOUBLE)))") }}
    / NULLIF({{ n }}, 0)
    + LN(CAST({{ records }} AS DOUBLE) / NULLIF({{ n }}, 0)),
    0
  ) AS distance_kl,
  {% endif %}
  {% macro scaled_distance(sums) %}
  COALESCE(
    CAST(
      SUM(CASE WHEN held IS NOT NULL THEN ABS({{ sums }}) * (next_rank - rank) END)
    AS DOUBLE) / 1125899906842624 / NULLIF({{ all_values }} - 1, 0),
    0
  )
  {% endmacro %}
  -- The sums keep their value up to the next value's rank.
  {% if "scaled" in needed.distances %}
  {{ scaled_distance("scaled") }} AS distance_scaled,
  {% endif %}
  {% if "scaled-literal" in needed.distances %}
  {{ scaled_distance("scaled_literal") }} AS distance_scaled_literal,
  {% endif %}
  {% if "ratio" in needed.distances %}
  -- The greatest p / q of a value.
  COALESCE(
    MAX(CAST(held AS DOUBLE) / CAST(records AS DOUBLE)) * CAST({{ members }} AS DOUBLE)
    / NULLIF({{ class_members }}, 0),
    0
  ) AS distance_ratio,
  {% endif %}
  {% if "inverse-ratio" in needed.distances %}
  -- The greatest q / p, infinite where a class lacks a value of the table.
  COALESCE(
    CASE
      WHEN COUNT(held) < {{ all_values }}
      THEN CAST('Infinity' AS DOUBLE)
      ELSE
        MAX(CAST(records AS DOUBLE) / CAST(held AS DOUBLE)) * {{ class_members }}
        / CAST({{ members }} AS DOUBLE)
    END,
    0
  ) AS distance_inverse_ratio,
  {% endif %}
  {% if "surplus" in needed.distances %}
  -- The greatest p / q + ln q, of which enhanced beta-likeness allows 1.
  COALESCE(
    MAX(
      CAST(held AS DOUBLE) * {{ members }} / (CAST(records AS DOUBLE) * {{ row_members }})
      + LN(CAST(records AS DOUBLE) / CAST({{ members }} AS DOUBLE))
    ),
    0
  ) AS distance_surplus,
  {% endif %}
  {% if needed.left is not None %}
  -- Suppression leaves at least M records, so no share of what is published is above C / M: the sum
  -- of max(c M - n C, 0), and that of the C that it counts.
  {{ excess(needed.left) }} AS exceeding,
  COALESCE(
    SUM(CASE WHEN held * {{ needed.left }} > records * counted THEN records END),
    0
  ) AS favoured,
  {% endif %}
FROM {{ rows }}
GROUP BY {{ listed(keys) }}

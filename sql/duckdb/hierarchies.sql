-- Result: the schema sqlanon with two empty tables, where they are missing.

CREATE SCHEMA IF NOT EXISTS "sqlanon";

-- One row for each stored hierarchy. `specification` is JSON: a rule's own form, or, for the kind
-- 'rows', the name of their origin. `leaves` is NULL for a rule.
CREATE TABLE IF NOT EXISTS "sqlanon"."hierarchies" (
    "name" VARCHAR PRIMARY KEY,
    "kind" VARCHAR NOT NULL,
    "specification" VARCHAR NOT NULL,
    "height" INTEGER NOT NULL,
    "leaves" BIGINT
);

-- One row for each leaf of a hierarchy of the kind 'rows': `path` goes from the leaf to the top.
CREATE TABLE IF NOT EXISTS "sqlanon"."hierarchy_paths" (
    "hierarchy" VARCHAR NOT NULL,
    "position" BIGINT NOT NULL,
    "path" VARCHAR[] NOT NULL
);

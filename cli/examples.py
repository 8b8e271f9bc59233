"""Examples at the end of every help; they run in the folder that `sqlanon demo` makes."""

from __future__ import annotations

import re

_TEXT = r"""
[]
# make up a census to try everything on
sqlanon demo
# draft a policy for it
sqlanon init census.duckdb people --output my-policy.toml
# what the table gives away as it stands
sqlanon check census.duckdb people
# publish it anonymized, as a file
sqlanon anonymize census.duckdb people --policy policy.toml \
    --output people.parquet

[demo]
# a census of 20,000 people in the folder sqlanon-demo
sqlanon demo
# a smaller one elsewhere
sqlanon demo small --records 2000 --seed 7

[init]
# a policy to start from, drafted from the table
sqlanon init census.duckdb people --output draft.toml
# the same, column by column on the terminal
sqlanon init census.duckdb people --output asked.toml --ask

[check]
# who could be found by three columns
sqlanon check census.duckdb people --qi age,sex,postcode
# fail in a job where a published table breaks its policy
sqlanon check census.duckdb people_anonymous --policy policy.toml --json

[lint]
# what a release gives away besides its classes
sqlanon lint people.parquet --policy policy.toml
# the same beside its original
sqlanon lint people.parquet --against census.duckdb --against-table people \
    --policy policy.toml

[report]
# a page about a release, for a data protection officer
sqlanon report census.duckdb people --released people_anonymous \
    --policy policy.toml --output again.html
# the same as text
sqlanon report census.duckdb people --released people_anonymous \
    --policy policy.toml --effort none

[plan]
# what publishing by a policy would cost
sqlanon plan census.duckdb people --policy policy.toml
# the statement, for another engine
sqlanon plan census.duckdb people --policy policy.toml --sql --dialect spark
# the loss for several k and suppression limits, as a chart
sqlanon plan census.duckdb people --policy policy.toml --sweep k=2,5,10 \
    --sweep suppression_limit=0,0.02,0.05 --chart loss.html
# what it takes to keep single columns finer
sqlanon plan census.duckdb people --policy policy.toml --alternatives
# store the plan for sqlanon apply
sqlanon plan census.duckdb people --policy policy.toml --save plan.json

[apply]
# carry a stored plan out
sqlanon apply census.duckdb plan.json --into people_public
# other records by the same recoding
sqlanon apply census.duckdb plan.json --to people \
    --suppression-limit 0.02 --output later.csv

[anonymize]
# a new table beside the original
sqlanon anonymize census.duckdb people --policy policy.toml \
    --into people_k20 --k 20
# without a policy file, one level per record, as a CSV file
sqlanon anonymize census.duckdb people --qi age,sex \
    --hierarchy age=intervals:5,10,20 --k 5 --method mondrian --others drop \
    --output people.csv
# a file with its manifest, and what its labels stand for
sqlanon anonymize census.duckdb people --policy policy.toml \
    --output released.csv --manifest released.manifest.json \
    --labels released.labels.csv
# look first: three records before and after, and nothing is written
sqlanon anonymize census.duckdb people --policy policy.toml --dry-run \
    --preview 3

[verify]
# whether a release is what its manifest says
sqlanon verify released.csv released.manifest.json

[measure]
# what a published table lost against its original
sqlanon measure census.duckdb people_anonymous --table people \
    --policy policy.toml

[mine]
# how many generalized itemsets ten people or more have in common
sqlanon mine census.duckdb people --qi age,sex \
    --hierarchy age=intervals:5,10,20 --k 10

[bound]
# what any recoding of two columns loses at least
sqlanon bound census.duckdb people --qi age,sex \
    --hierarchy age=intervals:5,10,20 --k 10

[compare]
# three methods side by side for two k, with charts
sqlanon compare census.duckdb people --qi age,sex \
    --hierarchy age=intervals:5,10,20 --others drop \
    --methods incognito,mondrian,forest --ks 5,20 --chart methods.html

[risk]
# which columns tell people apart
sqlanon risk census.duckdb people
# how easily people are found in what was published
sqlanon risk census.duckdb people_anonymous --policy policy.toml

[rewrite]
# after tables were replaced or dropped by hand
sqlanon rewrite census.duckdb

[hierarchy]
# how intervals nest
sqlanon hierarchy show intervals:5,10,20
# which values of a column a file misses
sqlanon hierarchy check census.duckdb people \
    --hierarchy education=education.csv --show-values

[hierarchy show]
# a rule, by the values of a column
sqlanon hierarchy show prefix:3,2 census.duckdb people --column postcode

[hierarchy check]
# all hierarchies of a policy
sqlanon hierarchy check census.duckdb people --policy policy.toml

[hierarchy make]
# a file to edit, from a rule
sqlanon hierarchy make census.duckdb people --column postcode \
    --hierarchy prefix:3,2 --output postcode.csv

[hierarchy load]
# keep a hierarchy in the database, as table:jobs
sqlanon hierarchy load census.duckdb jobs occupation.csv

[hierarchy list]
# what is stored there
sqlanon hierarchy list census.duckdb

[hierarchy drop]
# remove it
sqlanon hierarchy drop census.duckdb jobs
"""
EXAMPLES = dict(re.findall(r"^\[(.*)\]\n((?:.+\n)+)", _TEXT, re.MULTILINE))
"""Per command its examples as lines of a shell, each below a comment that says what it does."""

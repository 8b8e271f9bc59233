"""Examples at the end of every help; they run in the folder that `sqlanon demo` makes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[tuple[str, str]]] = {
    "": (
        ("make up a census to try everything on", "demo"),
        ("draft a policy for it", "init census.duckdb people --output my-policy.toml"),
        ("what the table gives away as it stands", "check census.duckdb people"),
        (
            "publish it anonymized, as a file",
            "anonymize census.duckdb people --policy policy.toml --output people.parquet",
        ),
    ),
    "demo": (
        ("a census of 20,000 people in the folder sqlanon-demo", "demo"),
        ("a smaller one elsewhere", "demo small --records 2000 --seed 7"),
    ),
    "init": (
        (
            "a policy to start from, drafted from the table",
            "init census.duckdb people --output draft.toml",
        ),
        (
            "the same, column by column on the terminal",
            "init census.duckdb people --output asked.toml --ask",
        ),
    ),
    "check": (
        ("who could be found by three columns", "check census.duckdb people --qi age,sex,postcode"),
        (
            "fail in a job where a published table breaks its policy",
            "check census.duckdb people_anonymous --policy policy.toml --json",
        ),
    ),
    "report": (
        (
            "a page about a release, for a data protection officer",
            "report census.duckdb people --released people_anonymous --policy policy.toml "
            "--output again.html",
        ),
        (
            "the same as text",
            "report census.duckdb people --released people_anonymous --policy policy.toml "
            "--effort none",
        ),
    ),
    "plan": (
        (
            "what publishing by a policy would cost",
            "plan census.duckdb people --policy policy.toml",
        ),
        (
            "the statement, for another engine",
            "plan census.duckdb people --policy policy.toml --sql --dialect spark",
        ),
        (
            "the loss for several k and suppression limits, as a chart",
            "plan census.duckdb people --policy policy.toml --sweep k=2,5,10 "
            "--sweep suppression_limit=0,0.02,0.05 --chart loss.html",
        ),
        (
            "what it takes to keep single columns finer",
            "plan census.duckdb people --policy policy.toml --alternatives",
        ),
        (
            "store the plan for sqlanon apply",
            "plan census.duckdb people --policy policy.toml --save plan.json",
        ),
    ),
    "apply": (("carry a stored plan out", "apply census.duckdb plan.json --into people_public"),),
    "anonymize": (
        (
            "a new table beside the original",
            "anonymize census.duckdb people --policy policy.toml --into people_k20 --k 20",
        ),
        (
            "without a policy file, one level per record, as a CSV file",
            "anonymize census.duckdb people --qi age,sex --hierarchy age=intervals:5,10,20 --k 5 "
            "--method mondrian --others drop --output people.csv",
        ),
        (
            "look first: three records before and after, and nothing is written",
            "anonymize census.duckdb people --policy policy.toml --dry-run --preview 3",
        ),
    ),
    "measure": (
        (
            "what a published table lost against its original",
            "measure census.duckdb people_anonymous --table people --policy policy.toml",
        ),
    ),
    "mine": (
        (
            "how many generalized itemsets ten people or more have in common",
            "mine census.duckdb people --qi age,sex --hierarchy age=intervals:5,10,20 --k 10",
        ),
    ),
    "bound": (
        (
            "what any recoding of two columns loses at least",
            "bound census.duckdb people --qi age,sex --hierarchy age=intervals:5,10,20 --k 10",
        ),
    ),
    "compare": (
        (
            "three methods side by side for two k, with charts",
            "compare census.duckdb people --qi age,sex --hierarchy age=intervals:5,10,20 "
            "--others drop --methods incognito,mondrian,forest --ks 5,20 --chart methods.html",
        ),
    ),
    "risk": (
        ("which columns tell people apart", "risk census.duckdb people"),
        (
            "how easily people are found in what was published",
            "risk census.duckdb people_anonymous --policy policy.toml",
        ),
    ),
    "rewrite": (("after tables were replaced or dropped by hand", "rewrite census.duckdb"),),
    "hierarchy": (
        ("how intervals nest", "hierarchy show intervals:5,10,20"),
        (
            "which values of a column a file misses",
            "hierarchy check census.duckdb people --hierarchy education=education.csv "
            "--show-values",
        ),
    ),
    "hierarchy show": (
        (
            "a rule, by the values of a column",
            "hierarchy show prefix:3,2 census.duckdb people --column postcode",
        ),
    ),
    "hierarchy check": (
        (
            "all hierarchies of a policy",
            "hierarchy check census.duckdb people --policy policy.toml",
        ),
    ),
    "hierarchy make": (
        (
            "a file to edit, from a rule",
            "hierarchy make census.duckdb people --column postcode --hierarchy prefix:3,2 "
            "--output postcode.csv",
        ),
    ),
    "hierarchy load": (
        (
            "keep a hierarchy in the database, as table:jobs",
            "hierarchy load census.duckdb jobs occupation.csv",
        ),
    ),
    "hierarchy list": (("what is stored there", "hierarchy list census.duckdb"),),
    "hierarchy drop": (("remove it", "hierarchy drop census.duckdb jobs"),),
}
"""Per command what its help ends with: what an example does, and its words after `sqlanon`."""
WIDTH = 78
"""Most letters of a line of an example; longer ones go on in the next."""


def epilog(command: str) -> str | None:
    """The examples of a command as lines; None where it has none."""
    if command not in EXAMPLES:
        return None
    blocks = (f"# {what}\n{folded(words)}" for what, words in EXAMPLES[command])
    return "\n".join(blocks)


def folded(words: str) -> str:
    r"""An example as a shell takes it, over several lines where it is long.

    >>> print(folded("check census.duckdb people"))
    sqlanon check census.duckdb people
    """
    lines = ["sqlanon"]
    for part in re.split(r" (?=--)", words):  # an option stays beside its value
        if len(lines[-1]) + len(part) + 3 > WIDTH:
            lines[-1] += " \\"
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return "\n".join(lines)

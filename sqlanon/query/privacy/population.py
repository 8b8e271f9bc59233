"""Population: which classes fail its models, and the people that labels of a release stand for.

Models look at the `released` records of a class and its PEOPLE; shares are compared as the decimal
numbers that were written. Of a release, `columns` are those whose labels tell people apart, by
number with their bits of a code at level 0. A label is known by the number of its place, which
`covers` give the codes of its values, and `read` its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.policy.population import DeltaPresence, KMap, PopulationModel
from sqlanon.query.assess.release import label
from sqlanon.query.classes.frequency import Masks
from sqlanon.query.classes.violations import beside
from sqlanon.sqltext import Sql, expression, names, render, value


def violates(model: PopulationModel) -> Sql:
    """Whether a class violates a model."""
    if isinstance(model, KMap):
        return expression("people < {{ k }}", k=model.k)
    return expression(
        "{{ below }} OR {{ above }}", below=below(model.least), above=above(model.most)
    )


def below(share: float) -> Sql:
    """Whether less than a share of the people of a class is released."""
    return expression(
        "CAST(released AS INT128) * {{ under }} < CAST(people AS INT128) * {{ over }}",
        **_exact(share),
    )


def above(share: float) -> Sql:
    """Whether more than a share of the people of a class is released."""
    return expression(
        "CAST(released AS INT128) * {{ under }} > CAST(people AS INT128) * {{ over }}",
        **_exact(share),
    )


def required(model: PopulationModel, *, every: int) -> Sql:
    """Records of a violating class that no node below can publish; `every` for all of them.

    Proofs are those of `methods.fulldomain.model_checks`.
    """
    if not isinstance(model, DeltaPresence) or model.least:
        return value(every)
    return expression(
        "CAST(released - CAST(people AS INT128) * {{ over }} // {{ under }} AS BIGINT)",
        **_exact(model.most),
    )


def _exact(share: float) -> dict[str, int]:
    """The whole numbers that a share is the quotient of."""
    exact = Fraction(str(share))
    return {"over": exact.numerator, "under": exact.denominator}


def labelled_people(encoded: exp.Table, covers: exp.Table, *, columns: Mapping[int, Masks]) -> Sql:
    """The people whose values have labels in all columns, by these: LABELs and PEOPLE.

    `covers` has rows of ATTRIBUTE, the words of a value, and a PLACE that it is in.
    """
    return render(
        "assess/labelled_people",
        encoded=encoded,
        covers=covers,
        columns=list(columns.items()),
        labels=names(map(label, columns)),
    )


def released_labels(classes: exp.Table, read: exp.Table, *, columns: Mapping[int, Masks]) -> Sql:
    """The classes that are not suppressed by the numbers of their labels: LABELs and SIZE.

    A label that is not among those of `read`, rows of ATTRIBUTE, LABEL and PLACE, has none.
    """
    return render("assess/released_labels", classes=classes, read=read, columns=list(columns))


def people_of_classes(
    released: exp.Table, people: exp.Table, *, columns: Sequence[int], conditions: Sequence[Sql]
) -> Sql:
    """The classes beside the population, in one row.

    The fewest people of a class; the least and the greatest share of them that is released; the
    people of all classes; the classes with more records than people, with how many of both they
    have; and the number of classes for which each of the conditions holds.
    """
    classes = beside(released, people, list(map(label, columns)))
    return render("assess/people_of_classes", classes=classes, conditions=conditions)

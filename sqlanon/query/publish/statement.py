"""Statement: the query whose rows are published, by the kind of recoding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.errors import PolicyError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.query.publish import recode
from sqlanon.query.publish.suppression import SuppressionQuery
from sqlanon.recoding import Clusters, FullDomain, Recoding, ValueMap
from sqlanon.regions import Regions
from sqlanon.sqltext import Sql, Statement


@dataclass(frozen=True, slots=True)
class Publication:
    """The columns, hierarchies and suppression to publish, whatever the recoding.

    Args:
        source: The table.
        columns: The published columns, in order, with a type where one is to be cast to.
        hierarchies: The hierarchy and the type of each quasi-identifier.
        suppressed: Which classes are suppressed; None where there are none.
        few: Columns of few labels, which records are sorted by the places of.
        label: What every cell of a suppressed record has, where a recoding says of single records
            which are suppressed; None where these are dropped.
        ordered: Whether the rows are sorted.
    """

    source: exp.Table
    columns: Mapping[str, exp.DataType | None]
    hierarchies: Mapping[str, tuple[Hierarchy, exp.DataType]]
    suppressed: SuppressionQuery | None = None
    few: Collection[str] = ()
    label: str | None = None
    ordered: bool = True


def published_rows(recoding: Recoding, publication: Publication) -> Statement:
    """The rows to publish.

    Raises:
        PolicyError: No statement carries out such a recoding.
    """
    if recoding.kind not in STATEMENTS:
        raise PolicyError(f"no statement carries out a recoding of kind {recoding.kind!r}")
    return STATEMENTS[recoding.kind](recoding, publication)


def _of_node(recoding: FullDomain, publication: Publication) -> exp.Select:
    source = publication.source
    parts = zip(publication.hierarchies.items(), recoding.node, strict=True)
    recodes = {
        name: recode.recode(source, name, hierarchy=hierarchy, level=level, column_type=kind)
        for (name, (hierarchy, kind)), level in parts
    }
    return _recoded(recodes, publication)


def _of_map(recoding: ValueMap, publication: Publication) -> exp.Select:
    from sqlanon.query.publish.value_map import recode_by_map  # nodes do not need it

    parts = zip(publication.hierarchies.items(), recoding.columns, strict=True)
    recodes = {name: recode_by_map(name, own, column_type=kind) for (name, (_, kind)), own in parts}
    return _recoded(recodes, publication)


def _recoded(recodes: Mapping[str, recode.Recode], publication: Publication) -> exp.Select:
    """The rows to publish, where values alone decide what becomes of them."""
    source = publication.source
    columns, suppressed = publication.columns, publication.suppressed
    if not publication.few:
        return recode.published(
            source,
            columns,
            recodes=recodes,
            suppressed=suppressed,
            ordered=publication.ordered,
        )
    from sqlanon.query.publish.sort_keys import published_by_place  # small tables do not need it

    return published_by_place(
        publication.few, source, columns=columns, recodes=recodes, suppressed=suppressed
    )


def _of_clusters(recoding: Clusters, publication: Publication) -> Sql:
    from sqlanon.query.publish import clusters  # recodings at one level do not need it

    return clusters.published(
        publication.source,
        publication.columns,
        hierarchies=publication.hierarchies,
        recoding=recoding,
        suppressed=publication.label,
        ordered=publication.ordered,
    )


def _of_regions(recoding: Regions, publication: Publication) -> Sql:
    from sqlanon.query.publish import regions  # recodings at one level do not need it

    return regions.published(
        publication.source,
        publication.columns,
        hierarchies=publication.hierarchies,
        recoding=recoding,
        suppressed=publication.label,
        ordered=publication.ordered,
    )


STATEMENTS: Mapping[str, Callable[[Any, Publication], Statement]] = {
    FullDomain.kind: _of_node,
    ValueMap.kind: _of_map,
    Clusters.kind: _of_clusters,
    Regions.kind: _of_regions,
}

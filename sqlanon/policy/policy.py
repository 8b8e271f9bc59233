"""Policy: which columns play which role, and what the published table must satisfy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sqlanon.arguments import path_of, plain_numbers
from sqlanon.errors import PolicyError, ReleaseError
from sqlanon.hierarchy.declaration import Hierarchy
from sqlanon.policy.population import DeltaPresence, PopulationModel
from sqlanon.policy.privacy import (
    FAMILIES,
    TABLE_FAMILIES,
    Model,
    ValueModel,
    strictest,
)
from sqlanon.policy.roles import ClassMean, Demand, QuasiIdentifier, Sensitive, all_of
from sqlanon.policy.sizes import ClassModel, KAnonymity, SizeModel, SubsetAnonymity
from sqlanon.policy.toml import (
    blaming,
    entries,
    model_forms,
    models_of,
    read_document,
    read_quasi_identifier,
    read_sensitive,
    refuse_unknown,
    sensitive_form,
    texts,
)
from sqlanon.wording import counted, did_you_mean, many, shell_word

Others = Literal["keep", "drop"]
_NUMBER_DIGITS = 4
_MAX_COLUMNS_NAMED = 20
SETTINGS = ("method", "loss")
OF_METHODS = ("patterns", "scheme", "direction")
"""Options of some methods that a policy file may hold, too."""
MOST_SUBSETS = 2_000
"""Sets of quasi-identifiers whose combinations are counted for a model; more are refused."""
COUNTING_COLUMNS = {
    "entity": "whose record it is",
    "weight": "how many people a record stands for",
    "household": "which household it is of",
}
"""Keys of columns that count and are no role, with what each column says."""
SUPPRESSED = "*"
SUGGESTED_K = 5
"""The smallest class of a policy that is drafted [records]."""
SUGGESTED_LIMIT = 0.02
"""Share of the records that may be suppressed, of a policy that is drafted."""
# Rules of hierarchies that take a value for the text that it is.
_AS_TEXT = frozenset({"suppression", "prefix"})


def least_share(records: int, of: int) -> float:
    """The least suppression limit of four decimals or fewer that allows for so many records.

    >>> least_share(1, 3), least_share(2, 4)
    (0.3334, 0.5)
    """
    whole = 10**_NUMBER_DIGITS
    return float(Fraction(math.ceil(Fraction(records, of) * whole), whole))


@dataclass(frozen=True, slots=True)
class Policy:
    """Roles of columns, privacy models and limits; it says nothing of how to reach them.

    Args:
        quasi_identifiers: Columns that are generalized: names (suppression only), or a mapping to
            a `Hierarchy` or a `QuasiIdentifier`; of recodings that lose the same, the one that
            leaves the last columns lower is taken.
        sensitive: Columns published as they are whose link to a person must stay unknown: names,
            or a mapping to a `Sensitive`.
        identifiers: Columns that name a person; dropped.
        keep: Columns published as they are, known to nobody who could use them.
        drop: Columns that are not published.
        others: What happens to columns in no role; None makes them an error before publishing.
        models: Privacy models; several of a kind count as the strictest. Those of sensitive
            columns hold for each of them that has none of the family of its own.
        suppression_limit: Share of the records that may be suppressed, in [0, 1].
        suppressed: `drop` leaves suppressed records out; `keep` publishes them with every
            quasi-identifier replaced by `suppressed_label`.
        suppressed_label: What stands for a suppressed value: with `keep`, and in a released table
            that is measured.
        entity: A column that says whose record it is; models count its distinct values, persons,
            instead of records. It is never published. Among `keep` it says that a table to be
            judged holds it.
        population: Everybody that the table's records were drawn from, whom `KMap` and
            `DeltaPresence` compare its classes with: a table of the source, or the path of a file
            of data. It has the quasi-identifiers as they are before anything is generalized.
        weight: A column of survey weights: how many people of the population a record stands for,
            itself among them. Risk counts by it; it is published only where it is among `keep`.
        household: A column that says which records are of one household, as `weight`.

    Raises:
        PolicyError: A column in two roles, a figure out of range, a model of sensitive values
            without a sensitive column, or one of a population without that; all mistakes at once.
    """

    quasi_identifiers: Mapping[str, Hierarchy | QuasiIdentifier] | Sequence[str]
    sensitive: Mapping[str, Sensitive] | Sequence[str] = ()
    identifiers: Sequence[str] = ()
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    others: Others | None = None
    models: Sequence[Model] = ()
    suppression_limit: float = 0.0
    suppressed: Literal["drop", "keep"] = "drop"
    suppressed_label: str = SUPPRESSED
    entity: str | None = None
    population: str | None = None
    weight: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.population, Path):
            object.__setattr__(self, "population", str(self.population))
        plain_numbers(self)
        faults = self._kind_faults() or [
            *self._role_faults(),
            *self._aside_faults(),
            *self._mean_faults(),
            *self._model_faults(),
            *self._figure_faults(),
        ]
        if faults:
            raise PolicyError("; ".join(faults))
        # What the caller changes later must not change what was checked.
        settled = {
            "quasi_identifiers": self.attributes,
            "sensitive": self.sensitive_attributes,
            "identifiers": tuple(self.identifiers),
            "keep": tuple(self.keep),
            "drop": tuple(self.drop),
            "models": strictest(self.models),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @property
    def attributes(self) -> dict[str, QuasiIdentifier]:
        """The quasi-identifiers in order, each with its hierarchy, weight and level bounds."""
        given = self.quasi_identifiers
        if not isinstance(given, Mapping):
            return {name: QuasiIdentifier(Hierarchy.suppression()) for name in given}
        return {
            name: value if isinstance(value, QuasiIdentifier) else QuasiIdentifier(value)
            for name, value in given.items()
        }

    @property
    def sensitive_attributes(self) -> dict[str, Sensitive]:
        """The sensitive columns in order, each with its own models and how its values differ."""
        given = self.sensitive
        if isinstance(given, Mapping):
            return dict(given)
        return {name: Sensitive() for name in given}

    @property
    def demands(self) -> tuple[Demand, ...]:
        """The models of each sensitive column, in the order of columns, then of `FAMILIES`."""
        common = [model for model in self.models if isinstance(model, ValueModel)]
        demands = []
        for column, attribute in self.sensitive_attributes.items():
            families = {model.family for model in attribute.models}
            models = [model for model in common if model.family not in families]
            demands += [Demand(column, model) for model in strictest([*models, *attribute.models])]
        return tuple(demands)

    @property
    def class_means(self) -> dict[str, ClassMean]:
        """The quasi-identifiers of which a figure of each class is published."""
        return {
            name: ClassMean.read(attribute.class_mean)
            for name, attribute in self.attributes.items()
            if attribute.class_mean is not None
        }

    @property
    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role, by the role's name."""
        return {
            "quasi-identifier": tuple(self.quasi_identifiers),
            "sensitive": tuple(self.sensitive),
            "identifier": tuple(self.identifiers),
            "keep": tuple(self.keep),
            "drop": tuple(self.drop),
        }

    @property
    def counting_columns(self) -> tuple[str, ...]:
        """The columns of entity, weight and household, published only where they are kept."""
        return tuple(filter(None, (self.entity, self.weight, self.household)))

    @property
    def k(self) -> int:
        """The smallest class size that the models allow; 1 where none says anything."""
        return max((model.k for model in self.models if isinstance(model, KAnonymity)), default=1)

    @property
    def population_models(self) -> tuple[PopulationModel, ...]:
        """The models that compare classes with the population."""
        return tuple(model for model in self.models if isinstance(model, PopulationModel))

    @property
    def forbids_suppression(self) -> bool:
        """Whether a model breaks where any class of records is left out, whatever the limit."""
        return any(model.forbids_suppression for model in self.population_models)

    @property
    def of_sizes(self) -> tuple[SizeModel, ...]:
        """The models of the sizes of all classes together."""
        return tuple(model for model in self.models if isinstance(model, SizeModel))

    @property
    def of_subsets(self) -> tuple[SubsetAnonymity, ...]:
        """The models of combinations of some quasi-identifiers."""
        return tuple(model for model in self.models if isinstance(model, SubsetAnonymity))

    @property
    def of_labels(self) -> tuple[PopulationModel | SubsetAnonymity, ...]:
        """The models that look beyond a class, at whom else its labels, or some of them, hold."""
        return (*self.population_models, *self.of_subsets)

    @property
    def beyond_k(self) -> bool:
        """Whether more is asked of classes than k records: another model, or k persons."""
        return bool(self.of_sizes) or self.beyond_sizes

    @property
    def beyond_sizes(self) -> bool:
        """Whether the numbers of records of classes do not tell whether all models hold."""
        return bool(self.demands or self.entity or self.of_labels)

    @property
    def by_class(self) -> Policy:
        """A policy that asks of single classes what makes models of all their sizes hold.

        What satisfies it satisfies this one; it is this one where there is no such model.
        """
        if not self.of_sizes:
            return self
        others = [model for model in self.models if not isinstance(model, SizeModel)]
        enough = max(model.sufficient_k for model in self.of_sizes)
        return replace(self, models=(*others, KAnonymity(enough)))

    def _kind_faults(self) -> list[str]:
        """Arguments of another kind than they must be; nothing else can be said of them."""
        faults = []
        for role in ("quasi_identifiers", "sensitive", "identifiers", "keep", "drop"):
            if not all_of(getattr(self, role), str):
                faults.append(f"{role} must be a list of column names")
        quasi = Hierarchy | QuasiIdentifier
        for role, given, kinds, names in (
            ("quasi-identifiers", self.quasi_identifiers, quasi, "Hierarchy or QuasiIdentifier"),
            ("sensitive columns", self.sensitive, Sensitive, "Sensitive"),
        ):
            if isinstance(given, Mapping):
                wrong = [name for name, value in given.items() if not isinstance(value, kinds)]
                if wrong:
                    faults.append(f"{role} without a {names}: {', '.join(map(repr, wrong))}")
        if not all_of(self.models, Model):
            faults.append("models must be a list of privacy models, such as [KAnonymity(5)]")
        for key in COUNTING_COLUMNS:
            if not isinstance(getattr(self, key), str | None):
                faults.append(f"{key} must be the name of a column")
        if not isinstance(self.population, str | None) or self.population == "":
            faults.append("population must be the name of a table, or the path of a file of data")
        return faults

    def _role_faults(self) -> list[str]:
        seen: dict[str, str] = {}
        faults = []
        for role, columns in self.roles.items():
            for column in columns:
                if column in seen:
                    faults.append(
                        f"column {column!r} is both {seen[column]} and {role}; give it one role"
                        if seen[column] != role
                        else f"column {column!r} is named twice as {role}"
                    )
                seen[column] = role
        return faults

    def _aside_faults(self) -> list[str]:
        faults = [
            f"column {name!r} is both {key} and {role}; the column that says {why} cannot be "
            "published so, leave it out of the other role"
            for key, why in COUNTING_COLUMNS.items()
            for role in ("quasi-identifier", "sensitive")
            if (name := getattr(self, key)) in self.roles[role]
        ]
        twice = sorted(
            {name for name in self.counting_columns if self.counting_columns.count(name) > 1}
        )
        return [
            *faults,
            *(
                f"column {n!r} is two of {', '.join(COUNTING_COLUMNS)}; it can be one of them"
                for n in twice
            ),
        ]

    def _mean_faults(self) -> Iterator[str]:
        for name in self.class_means:
            if self.entity is not None:
                yield (
                    f"class_mean of {name!r} stands beside entity {self.entity!r}: a person of "
                    "many records would be most of a mean; leave one of both out"
                )
            if self.suppressed == "keep":
                yield (
                    f"class_mean of {name!r} is a number, which {self.suppressed_label!r} is not; "
                    "leave suppressed records out (suppressed = 'drop'), or class_mean"
                )
            for model in self.of_labels:
                yield (
                    f"class_mean of {name!r} is a number of one class, and {model.describe()} "
                    "compares labels that classes share; leave one of both out"
                )

    def _model_faults(self) -> list[str]:
        faults = self._table_model_faults() + self._population_faults()
        lost = [model for model in self.models if isinstance(model, ValueModel)]
        if lost and not self.sensitive:
            faults.append(
                f"{' and '.join(model.describe() for model in lost)} needs a sensitive column; "
                "name it with sensitive (--sensitive COLUMN)"
            )
        return faults

    def _table_model_faults(self) -> list[str]:
        faults = [
            f"k_subsets combines {model.subsets} quasi-identifiers, and there are "
            f"{len(self.quasi_identifiers)}; combine fewer"
            for model in self.of_subsets
            if model.subsets > len(self.quasi_identifiers) > 0
        ]
        faults += [
            f"{len(self.quasi_identifiers)} quasi-identifiers have {many(sets)} sets of "
            f"{model.subsets}, more than {MOST_SUBSETS:,}; combine fewer with k_subsets "
            "(--k-subsets), or name fewer quasi-identifiers"
            for model in self.of_subsets
            if (sets := math.comb(len(self.quasi_identifiers), model.subsets)) > MOST_SUBSETS
        ]
        whole = [model.family for model in self.models if isinstance(model, ClassModel)]
        if whole and self.entity is not None:
            faults.append(
                f"{' and '.join(dict.fromkeys(whole))} cannot count persons ({self.entity!r}), who "
                "may be in several classes, so that joining classes may raise it; ask for k "
                "(--k), which bounds the risk of every person, or leave the entity column out"
            )
        return faults

    def _population_faults(self) -> list[str]:
        models, faults = self.population_models, []
        if not models:
            return []
        named = " and ".join(model.describe() for model in models)
        if self.population is None:
            faults.append(
                f"{named} needs the population that the records are of; name a table of the source "
                "or a file with population (--population FILE|TABLE)"
            )
        if self.entity is not None:
            faults.append(
                f"{named} counts each record, and each row of the population, as one person, and "
                f"of entity {self.entity!r} a person may have several of either; leave entity "
                "(--entity) out, of a table with one record a person"
            )
        shares = any(isinstance(model, DeltaPresence) for model in models)
        if shares and self.suppressed == "keep":
            faults.append(
                f"{named} bounds shares of classes of the population, and records that are kept "
                "without their quasi-identifiers may be of any class; leave them out with "
                "suppressed = 'drop' (--suppressed drop)"
            )
        return faults

    def _figure_faults(self) -> list[str]:
        limit, faults = self.suppression_limit, []
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
            faults.append(f"suppression_limit {limit!r} is not a share between 0 and 1")
        if self.others not in (None, "keep", "drop"):
            faults.append(f"others is {self.others!r}; it must be 'keep' or 'drop'")
        if not isinstance(self.suppressed_label, str):
            faults.append(f"suppressed_label {self.suppressed_label!r} is not text")
        if self.suppressed not in ("drop", "keep"):
            faults.append(f"suppressed is {self.suppressed!r}; it must be 'drop' or 'keep'")
        return faults

    def allowance(self, records: int) -> int:
        """Most records that may be suppressed of so many [records].

        The share is taken as the decimal number that was written, so 0.29 of 100 allows 29. None
        may where a model forbids it.
        """
        if self.forbids_suppression:
            return 0
        return math.floor(Fraction(str(self.suppression_limit)) * records)

    def refuse_published_entity(self) -> None:
        """Refuses to publish the column that says whose record it is.

        Raises:
            PolicyError: It is kept.
        """
        if self.entity is not None and self.entity in self.keep:
            raise PolicyError(
                f"entity column {self.entity!r} is kept, and who has it joins all records of a "
                "person, which together single the person out; leave it out of keep (--keep) and "
                f"drop it (--drop {shell_word(self.entity)})"
            )

    def refuse_unused_label(self) -> None:
        """Refuses a label for suppressed values where no suppressed record is published.

        Raises:
            PolicyError: There is one.
        """
        if self.suppressed == "drop" and self.suppressed_label != SUPPRESSED:
            raise PolicyError(
                f"suppressed_label {self.suppressed_label!r} stands for nothing, since suppressed "
                "records are left out; keep them with suppressed = 'keep' (--suppressed keep), or "
                "leave suppressed_label (--suppressed-label) out"
            )

    def check_columns(self, columns: Sequence[str], *, publish: bool = False) -> None:
        """Holds the roles against the columns of a table.

        Args:
            columns: The table's columns.
            publish: Whether every column needs a role, and none may give persons away.

        Raises:
            PolicyError: Columns that the table does not have, or columns in no role, all at once;
                or an entity column that would be published.
        """
        if publish:
            self.refuse_published_entity()
        named = [column for role in self.roles.values() for column in role]
        named += [column for column in self.counting_columns if column not in named]
        faults = [
            f"the table has no column {column!r}{did_you_mean(column, columns)}"
            for column in named
            if column not in columns
        ]
        unassigned = self.unassigned(columns)
        if publish and unassigned:
            more = ", ..." if len(unassigned) > _MAX_COLUMNS_NAMED else ""
            faults.append(
                f"{counted(len(unassigned), 'column has', more='columns have')} no role: "
                f"{', '.join(map(repr, unassigned[:_MAX_COLUMNS_NAMED]))}{more}; publish with keep "
                "(--keep COLUMN), leave out with drop (--drop COLUMN), or settle all at once with "
                "others (--others keep|drop)"
            )
        if faults:
            raise PolicyError("; ".join(faults))

    def released(self, columns: Sequence[str]) -> Policy:
        """This policy, for a table of these columns that is published as it is.

        Columns that it drops need not be there.

        Raises:
            ReleaseError: There are columns that it drops, or gives no role.
        """
        dropped = {*self.identifiers, *self.drop, *self.counting_columns} - {*self.keep} | {
            self.entity
        }
        faults = [
            f"{counted(len(names), 'column')} {why}: {', '.join(map(repr, names))}"
            for names, why in (
                ([name for name in columns if name in dropped], "that the policy drops"),
                (self.unassigned(columns), "without a role in the policy"),
            )
            if names
        ]
        if faults:
            raise ReleaseError(
                f"the table holds {'; and '.join(faults)}; publish it by sqlanon anonymize, or "
                "give columns that may be published a role in the policy"
            )
        return self

    def weighed_by(self, columns: Collection[str]) -> Policy:
        """This policy without a weight or household that is none of the columns."""
        weight, household = (
            name if name in columns else None for name in (self.weight, self.household)
        )
        return replace(self, weight=weight, household=household)

    def unassigned(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table that need a role before it is published."""
        named = {
            *self.counting_columns,
            *(column for role in self.roles.values() for column in role),
        }
        return [column for column in columns if self.others is None and column not in named]

    def published(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table that are published, in the table's order."""
        left_out = {*self.identifiers, *self.drop, *self.counting_columns} - set(self.keep)
        if self.others == "drop":
            left_out |= {*columns} - {*self.quasi_identifiers, *self.sensitive, *self.keep}
        return [column for column in columns if column not in left_out]

    def seen(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table that decide what is published, in the table's order."""
        looked_at = {self.entity, *self.published(columns)}
        return [name for name in columns if name in looked_at]

    def by_value(self) -> frozenset[str]:
        """The columns whose values count, not how a text file writes them.

        Where a rule or an order needs numbers or dates, 1 and 1.0 must be what they are.
        """
        quasi = {
            name
            for name, attribute in self.attributes.items()
            if attribute.hierarchy.kind not in _AS_TEXT or attribute.class_mean is not None
        }
        ordered = {demand.column for demand in self.demands if demand.model.needs}
        weighed = () if self.weight is None or self.weight in self.keep else (self.weight,)
        return frozenset({*quasi, *ordered, *weighed})

    def with_attributes(self, attributes: Mapping[str, QuasiIdentifier]) -> Policy:
        """This policy with other hierarchies, weights or level bounds."""
        return replace(self, quasi_identifiers=dict(attributes))

    def to_dict(self) -> dict[str, Any]:
        """The policy as `policy.toml` would write it; `from_dict` reads it back."""
        result: dict[str, Any] = {
            **model_forms(self.models),
            "suppression_limit": self.suppression_limit,
            "suppressed": self.suppressed,
            "suppressed_label": self.suppressed_label,
            "identifiers": list(self.identifiers),
            "keep": list(self.keep),
            "drop": list(self.drop),
            "quasi_identifiers": {},
            "sensitive": {
                column: sensitive_form(attribute)
                for column, attribute in self.sensitive_attributes.items()
            },
        }
        for key in (
            "others",
            *COUNTING_COLUMNS,
            *(["population"] if self.population_models else []),
        ):
            if getattr(self, key) is not None:
                result[key] = getattr(self, key)
        for name, attribute in self.attributes.items():
            entry = {**attribute.hierarchy.to_dict(), "weight": attribute.weight}
            entry["min_level"] = attribute.min_level
            if attribute.max_level is not None:
                entry["max_level"] = attribute.max_level
            if attribute.order is not None:
                entry["order"] = list(attribute.order)
            if attribute.class_mean is not None:
                entry["class_mean"] = attribute.class_mean
            result["quasi_identifiers"][name] = entry
        return result

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], folder: Path | None = None) -> Policy:
        """Reads a policy from the keys of `policy.toml`.

        Args:
            document: The keys; `method`, `loss` and options of methods are no part of a policy.
            folder: Where relative paths of hierarchy files start.

        Raises:
            PolicyError: Unknown keys, all at once, or a value of the wrong kind.
            HierarchyError: A hierarchy that cannot be read.
            SourceError: A hierarchy file that cannot be read.
        """
        keys = [field.name for field in fields(cls) if field.name != "models"]
        models = ["k", *TABLE_FAMILIES, *FAMILIES]
        refuse_unknown(document, [*models, *keys, *SETTINGS, *OF_METHODS], where="the policy")
        options = {key: document[key] for key in keys if key in document}
        population = options.get("population")
        if isinstance(population, str) and folder is not None and (folder / population).is_file():
            options["population"] = str(folder / population)
        for key in ("identifiers", "keep", "drop"):
            options[key] = tuple(texts(options.get(key, ()), key))
        quasi = entries(options.pop("quasi_identifiers", {}), "quasi_identifiers")
        sensitive = entries(options.pop("sensitive", {}), "sensitive")
        return cls(
            quasi_identifiers={
                name: read_quasi_identifier(name, entry, folder=folder)
                for name, entry in quasi.items()
            },
            sensitive={
                name: read_sensitive(name, entry, folder=folder)
                for name, entry in sensitive.items()
            },
            models=models_of(document),
            **options,
        )

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Reads a policy file; its `method`, `loss` and the like are left to `read_document`."""
        path = path_of(path, "the policy file")
        document = read_document(path)
        with blaming(f"policy file {str(path)!r}"):
            return cls.from_dict(document, Path(path).parent)

"""Varied: a policy with another value of one of its figures. `VARIED` lists what can vary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

from sqlanon.arguments import is_whole_number, kind_of, plain
from sqlanon.errors import PolicyError
from sqlanon.policy.policy import Policy
from sqlanon.policy.privacy import FAMILIES, TABLE_FAMILIES, ValueModel
from sqlanon.policy.sizes import KAnonymity, SubsetAnonymity
from sqlanon.policy.toml import model_of, models_of, number, table_form
from sqlanon.wording import did_you_mean

LIMIT = "suppression_limit"


@dataclass(frozen=True, slots=True)
class Variation:
    """A value that a figure of a policy may take.

    Args:
        key: The figure, as a policy file names it.
        figure: The value as a number, for charts and documents.
        label: The value as the command line writes it.
        policy: The policy with it.
        has_kind: Whether the label says more than the number: which of several models it is of.
    """

    key: str
    figure: float
    label: str
    policy: Callable[[Policy], Policy]
    has_kind: bool = False


def _k(value: object) -> Variation:
    k = _number(value, "k")
    if not (is_whole_number(k) and k >= 1):
        raise PolicyError(f"k is {value!r}; it must be a whole number of at least 1")
    model = KAnonymity(int(k))

    def changed(policy: Policy) -> Policy:
        kept = [other for other in policy.models if not isinstance(other, KAnonymity)]
        if policy.of_subsets and len(kept) == len(policy.models):  # k is asked of subsets alone
            others = [other for other in kept if not isinstance(other, SubsetAnonymity)]
            subsets = [replace(subset, k=model.k) for subset in policy.of_subsets]
            return replace(policy, models=(*others, *subsets))
        return replace(policy, models=(*kept, model))

    return Variation("k", k, f"{k}", changed)


def _limit(value: object) -> Variation:
    share = _number(value, LIMIT)
    if not 0 <= share <= 1:
        raise PolicyError(f"suppression_limit {value!r} is not a share between 0 and 1")
    return Variation(
        LIMIT,
        share,
        _short(share),
        lambda policy: replace(policy, suppression_limit=share),
    )


def _of_family(key: str) -> Callable[[object], Variation]:
    """Reads a value of a family of models, which takes the place of all others of the family."""

    def read(value: object) -> Variation:
        model = model_of(key, plain(value))

        def changed(policy: Policy) -> Policy:
            others = [other for other in policy.models if other.family != key]
            sensitive = {
                name: replace(role, models=tuple(m for m in role.models if m.family != key))
                for name, role in policy.sensitive_attributes.items()
            }
            return replace(policy, models=(*others, model), sensitive=sensitive)

        label = _label(model)
        return Variation(key, _figure(model), label, changed, label != _short(_figure(model)))

    return read


def _of_table(key: str) -> Callable[[object], Variation]:
    """Reads a model of all classes, which takes the place of all others of its family."""

    def read(value: object) -> Variation:
        form = table_form(key, plain(value))
        [model] = models_of({"k": 1, key: dict(form)})[-1:]  # refuses what is none
        is_open = len(form) < len(TABLE_FAMILIES[key].keys)

        def changed(policy: Policy) -> Policy:
            before = [subset.k for subset in policy.of_subsets] if is_open else []
            [replacement] = models_of({"k": max([policy.k, *before]), key: dict(form)})[-1:]
            gone = {key, *([KAnonymity.family] if is_open else [])}
            others = [other for other in policy.models if other.family not in gone]
            return replace(policy, models=(*others, replacement))

        figures = [getattr(model, name) for name in form]
        return Variation(key, figures[-1], ":".join(map(_short, figures)), changed, len(form) > 1)

    return read


def _label(model: ValueModel) -> str:
    """A model as the command line writes it.

    >>> _label(model_of("l", "entropy:3")), _label(model_of("l", 3)), _label(model_of("t", 0.2))
    ('entropy:3', '3', '0.2')
    """
    family = FAMILIES[model.family]
    kind = model.form[1] if len(model.form) > 1 else ""
    figures = [_short(getattr(model, name)) for name in family.figures.get(kind, ())]
    shown = [] if not kind or kind == family.kinds[0] else [kind]
    return ":".join([*shown, *figures, _short(_figure(model))])


def _figure(model: ValueModel) -> float:
    """What stands last where a model is written: its l, its t and so on."""
    figure: float = getattr(model, fields(model)[0].name)
    return figure


VARIED: Mapping[str, Callable[[object], Variation]] = {
    "k": _k,
    **{key: _of_table(key) for key in TABLE_FAMILIES},
    **{key: _of_family(key) for key in FAMILIES},
    LIMIT: _limit,
}
"""Per figure of a policy what reads a value of it: a number, or the command line's words."""


def variation(key: str, value: object) -> Variation:
    """A value of a figure of a policy.

    Args:
        key: The figure, as a policy file or an option names it: `k`, `suppression_limit`, `l`, ...
        value: A number, or a text as the command line takes it, such as `entropy:3`.

    Raises:
        PolicyError: The figure is not known, or cannot have the value.
    """
    name = key.strip().replace("-", "_")
    if name not in VARIED:
        meant = did_you_mean(name, VARIED)
        raise PolicyError(
            f"{key!r} is not a figure of a policy that can be swept; those are "
            f"{', '.join(VARIED)}{meant}"
        )
    return VARIED[name](value)


def _short(number: float) -> str:
    """A number with as many digits as tell it from every other.

    >>> _short(0.1234567), _short(1.0), _short(1234567)
    ('0.1234567', '1', '1234567')
    """
    return repr(number).removesuffix(".0")


def _number(value: object, key: str) -> int | float:
    """A number for a figure, also one that is written.

    Raises:
        PolicyError: It is none.
    """
    value = plain(value)
    if isinstance(value, str):
        try:
            return number(value)
        except PolicyError as error:
            raise PolicyError(
                f"{key}: {error}; sweep numbers parted by commas, such as 2,5,10"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyError(f"a value to sweep must be a number or a text, not {kind_of(value)}")
    return value

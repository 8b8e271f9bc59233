"""sqlanon: anonymize tables where they live.

Names are loaded when they are first used, so that a program which needs few of them starts fast.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # not from typing, which is slow to load and not always needed
    from typing import Any

    from sqlanon.api import anonymize as anonymize
    from sqlanon.api import apply as apply
    from sqlanon.api import plan as plan
    from sqlanon.comparison.comparing import compare as compare
    from sqlanon.comparison.report import Comparison as Comparison
    from sqlanon.comparison.sweep_report import Sweep as Sweep
    from sqlanon.comparison.sweeping import sweep as sweep
    from sqlanon.errors import SqlanonError as SqlanonError
    from sqlanon.errors import UnsatisfiableError as UnsatisfiableError
    from sqlanon.errors import VerificationError as VerificationError
    from sqlanon.hierarchy.declaration import Hierarchy as Hierarchy
    from sqlanon.inspection import bound as bound
    from sqlanon.inspection import check as check
    from sqlanon.inspection import measure as measure
    from sqlanon.inspection import mine as mine
    from sqlanon.inspection import risk as risk
    from sqlanon.policy.policy import Policy as Policy
    from sqlanon.policy.privacy import AlphaAnonymity as AlphaAnonymity
    from sqlanon.policy.privacy import BetaLikeness as BetaLikeness
    from sqlanon.policy.privacy import DeltaDisclosure as DeltaDisclosure
    from sqlanon.policy.privacy import KAnonymity as KAnonymity
    from sqlanon.policy.privacy import LDiversity as LDiversity
    from sqlanon.policy.privacy import TCloseness as TCloseness
    from sqlanon.policy.roles import QuasiIdentifier as QuasiIdentifier
    from sqlanon.policy.roles import Sensitive as Sensitive
    from sqlanon.publishing.anonymized import Anonymized as Anonymized
    from sqlanon.publishing.plan import Plan as Plan
    from sqlanon.publishing.preview import preview as preview
    from sqlanon.publishing.rewriting import rewrite as rewrite
    from sqlanon.release_report.making import report as report
    from sqlanon.release_report.report import ReleaseReport as ReleaseReport
    from sqlanon.reports.bound import BoundReport as BoundReport
    from sqlanon.reports.check import CheckReport as CheckReport
    from sqlanon.reports.itemsets import MiningReport as MiningReport
    from sqlanon.reports.measure import MeasureReport as MeasureReport
    from sqlanon.reports.plan import Report as Report
    from sqlanon.reports.risk import RiskReport as RiskReport
    from sqlanon.suggestion.suggesting import suggest as suggest
    from sqlanon.suggestion.suggestion import Suggestion as Suggestion

_HOMES = {
    "anonymize": "sqlanon.api",
    "apply": "sqlanon.api",
    "bound": "sqlanon.inspection",
    "check": "sqlanon.inspection",
    "compare": "sqlanon.comparison.comparing",
    "measure": "sqlanon.inspection",
    "mine": "sqlanon.inspection",
    "plan": "sqlanon.api",
    "preview": "sqlanon.publishing.preview",
    "report": "sqlanon.release_report.making",
    "ReleaseReport": "sqlanon.release_report.report",
    "risk": "sqlanon.inspection",
    "Anonymized": "sqlanon.publishing.anonymized",
    "BoundReport": "sqlanon.reports.bound",
    "Comparison": "sqlanon.comparison.report",
    "Sweep": "sqlanon.comparison.sweep_report",
    "sweep": "sqlanon.comparison.sweeping",
    "rewrite": "sqlanon.publishing.rewriting",
    "SqlanonError": "sqlanon.errors",
    "UnsatisfiableError": "sqlanon.errors",
    "VerificationError": "sqlanon.errors",
    "Hierarchy": "sqlanon.hierarchy.declaration",
    "MeasureReport": "sqlanon.reports.measure",
    "MiningReport": "sqlanon.reports.itemsets",
    "Plan": "sqlanon.publishing.plan",
    "Policy": "sqlanon.policy.policy",
    "QuasiIdentifier": "sqlanon.policy.roles",
    "Sensitive": "sqlanon.policy.roles",
    "KAnonymity": "sqlanon.policy.privacy",
    "LDiversity": "sqlanon.policy.privacy",
    "TCloseness": "sqlanon.policy.privacy",
    "AlphaAnonymity": "sqlanon.policy.privacy",
    "BetaLikeness": "sqlanon.policy.privacy",
    "DeltaDisclosure": "sqlanon.policy.privacy",
    "CheckReport": "sqlanon.reports.check",
    "RiskReport": "sqlanon.reports.risk",
    "Report": "sqlanon.reports.plan",
    "Suggestion": "sqlanon.suggestion.suggestion",
    "suggest": "sqlanon.suggestion.suggesting",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sqlanon' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]

"""The claims lab: what explainers say about these models, each statement an experiment with a verdict."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.claims.catalogue import all_claims, find_claims
    from pellucid.claims.claim import Budget, Claim, Effort
    from pellucid.claims.evidence import Estimate, Evidence, Figure, MissingData
    from pellucid.claims.lab import Outcome, run_claim, run_claims
    from pellucid.claims.rules import Criterion, Rule, Verdict

__all__ = [
    "Budget",
    "Claim",
    "Criterion",
    "Effort",
    "Estimate",
    "Evidence",
    "Figure",
    "MissingData",
    "Outcome",
    "Rule",
    "Verdict",
    "all_claims",
    "find_claims",
    "run_claim",
    "run_claims",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Budget": "claim",
        "Claim": "claim",
        "Criterion": "rules",
        "Effort": "claim",
        "Evidence": "evidence",
        "Figure": "evidence",
        "Estimate": "evidence",
        "MissingData": "evidence",
        "Outcome": "lab",
        "Rule": "rules",
        "Verdict": "rules",
        "all_claims": "catalogue",
        "find_claims": "catalogue",
        "run_claim": "lab",
        "run_claims": "lab",
    },
)

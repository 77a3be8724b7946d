"""The claims lab: common statements about these models, each tested by an experiment that gives a verdict."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.claims.catalogue import all_claims, find_claims
    from pellucid.claims.claim import Claim, Effort, Setup
    from pellucid.claims.evidence import Estimate, Evidence, Figure, MissingData
    from pellucid.claims.lab import Outcome, run_claim, run_claims
    from pellucid.claims.rules import Criterion, Rule, Verdict

__all__ = [
    "Claim",
    "Criterion",
    "Effort",
    "Estimate",
    "Evidence",
    "Figure",
    "MissingData",
    "Outcome",
    "Rule",
    "Setup",
    "Verdict",
    "all_claims",
    "find_claims",
    "run_claim",
    "run_claims",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "catalogue": ["all_claims", "find_claims"],
        "claim": ["Claim", "Effort", "Setup"],
        "evidence": ["Estimate", "Evidence", "Figure", "MissingData"],
        "lab": ["Outcome", "run_claim", "run_claims"],
        "rules": ["Criterion", "Rule", "Verdict"],
    },
)

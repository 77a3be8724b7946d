"""Running claims: experiment, rule, verdict."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pellucid.claims.bilingual import Language, Text
from pellucid.claims.charts import specification
from pellucid.claims.claim import FIRST_SEED, Claim
from pellucid.claims.evidence import Evidence, MissingData, finite
from pellucid.claims.rules import JudgedCriterion, Verdict
from pellucid.errors import UsageError, UserError

__all__ = ["Outcome", "judge_outcome", "run_claim", "run_claims"]

_LAST_SEED = 2**62  # word vectors take 63 bits, and claims count on from the first seed


@dataclass(frozen=True)
class Outcome:
    """A claim, what was measured and what follows.

    Attributes:
        claim: the claim.
        verdict: holds, holds-if, refuted, not-settled or not-run.
        judged: the tests of the rule with their numbers; empty if it was not run.
        evidence: what was measured; None if it was not run.
        missing: what it needs, if it was not run.
        quick: whether it was shrunken for the quick lab.
        seed: the first of its seeds.
        seconds: how long it took.
    """

    claim: Claim
    verdict: Verdict
    judged: tuple[JudgedCriterion, ...]
    evidence: Evidence | None
    missing: Text | None
    quick: bool
    seed: int
    seconds: float

    @property
    def shrunken(self) -> bool:
        """Whether the whole lab would have spent more on it."""
        return self.quick and self.claim.effort.quick != self.claim.effort.full

    @property
    def condition(self) -> Text | None:
        """What the verdict hangs on: the condition of holds-if, what is right instead, or what is missing."""
        if self.verdict == "not-run":
            return self.missing
        return {"holds-if": self.claim.rule.condition, "refuted": self.claim.rule.instead}.get(self.verdict)

    def as_dict(self, language: Language = "en") -> dict[str, Any]:
        """Return what `pellucid claims run --json` says of it; the figure's texts are in that language."""
        return {
            "id": self.claim.id,
            "verdict": self.verdict,
            "condition": None if self.condition is None else self.condition.as_dict(),
            "evidence": None if self.evidence is None else self._evidence(self.evidence, language),
            "seconds": round(self.seconds, 3),
        }

    def _evidence(self, evidence: Evidence, language: Language) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "numbers": {name: number.as_dict() for name, number in evidence.numbers.items()},
            "tests": [
                {
                    "number": one.test.number,
                    "relation": one.test.relation,
                    "threshold": one.test.threshold,
                    "fails_at": one.test.fails_at,
                    "why": one.test.why.as_dict(),
                    "beyond": one.beyond,
                    "passed": one.passed,
                }
                for one in self.judged
            ],
            "records": [{name: finite(cell) for name, cell in record.items()} for record in evidence.records],
            "figure": specification(evidence, language),
            "notes": [note.as_dict() for note in evidence.notes],
        }


def run_claim(claim: Claim, *, quick: bool = False, seed: int = FIRST_SEED, data: Path | None = None) -> Outcome:
    """Run a claim's experiment and let its rule judge.

    Args:
        claim: which.
        quick: whether trainings are shrunken.
        seed: the first of its seeds.
        data: folder with the user's own files.

    Raises:
        UsageError: for a seed that no training takes.
        UserError: if `data` is no folder, or a file in it cannot be read.
    """
    _check(seed, data)
    clock = time.monotonic()
    evidence = missing = None
    try:
        evidence = claim.run(claim.effort.budget(quick=quick, data=data), seed)
    except MissingData as lacking:
        missing = lacking.what
    return judge_outcome(claim, evidence, missing, quick=quick, seed=seed, seconds=time.monotonic() - clock)


def judge_outcome(
    claim: Claim, evidence: Evidence | None, missing: Text | None, *, quick: bool, seed: int, seconds: float
) -> Outcome:
    """Return what follows from evidence by the claim's rule; without evidence the claim was not run.

    A training that was shrunken cannot refute: that so little of it did not do something says nothing of more.
    """
    if evidence is None:
        return Outcome(claim, "not-run", (), None, missing, quick, seed, seconds)
    ruling = claim.rule.judge(evidence.numbers)
    found = Outcome(claim, ruling.verdict, ruling.judged, evidence, None, quick, seed, seconds)
    if found.verdict == "refuted" and found.shrunken and claim.trains:
        return replace(found, verdict="not-settled")
    return found


def run_claims(
    claims: Iterable[Claim], *, quick: bool = False, seed: int = FIRST_SEED, data: Path | None = None
) -> Iterator[Outcome]:
    """Run claims one after the other; yield what came of each as it comes. Arguments as for `run_claim`.

    Raises:
        UsageError, UserError: as `run_claim`; what is wrong with the arguments before anything runs.
    """
    _check(seed, data)
    return (run_claim(claim, quick=quick, seed=seed, data=data) for claim in claims)


def _check(seed: int, data: Path | None) -> None:
    if not 0 <= seed <= _LAST_SEED:
        raise UsageError(f"expected a seed from 0 to {_LAST_SEED}, got {seed}", where="--seed")
    if data is not None and not data.is_dir():
        raise UserError(
            f"{data} is no folder",
            where=str(data),
            hint="Name the folder that text.txt, analogies.txt and similarity.tsv are in.",
        )

"""Run claims: experiment, rule, verdict."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import getfile
from pathlib import Path
from typing import Any

from pellucid.claims.charts import specification
from pellucid.claims.claim import FIRST_SEED, Claim
from pellucid.claims.evidence import Evidence, MissingData, finite
from pellucid.claims.rules import JudgedCriterion, Verdict
from pellucid.claims.texts import Language, Text, shared_texts
from pellucid.errors import UsageError, UserError

__all__ = ["Outcome", "judge_outcome", "run_claim", "run_claims"]

_LAST_SEED = 2**62  # word vectors take 63 bits, and claims count up from the first seed


@dataclass(frozen=True)
class Outcome:
    """A claim, what was measured and what follows.

    Attributes:
        verdict: holds, holds-if, refuted, not-settled or not-run.
        judged: the criteria of the rule with their numbers; empty if the claim was not run.
        evidence: what was measured; None if the claim was not run.
        missing: what it needs, if it was not run.
        quick: whether it ran in the quick lab.
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
    def shortened(self) -> bool:
        """Whether the full lab would have spent more on it."""
        return self.quick and self.claim.effort.quick != self.claim.effort.full

    @property
    def condition(self) -> Text | None:
        """What qualifies the verdict: the condition of holds-if, the correct statement, or what is missing."""
        if self.verdict == "not-run":
            return self.missing
        texts = self.claim.texts
        return {"holds-if": texts.condition, "refuted": texts.instead}.get(self.verdict)

    def as_dict(self, language: Language = "en") -> dict[str, Any]:
        """Convert to the JSON of `pellucid claims run --json`; the figure's texts are in the given language."""
        return {
            "id": self.claim.id,
            "verdict": self.verdict,
            "condition": None if self.condition is None else self.condition.as_dict(),
            "evidence": None if self.evidence is None else self._evidence(self.evidence, language),
            "seconds": round(self.seconds, 3),
        }

    def _evidence(self, evidence: Evidence, language: Language) -> dict[str, Any]:
        texts = self.claim.texts
        return {
            "seed": self.seed,
            "numbers": {name: number.as_dict() for name, number in evidence.numbers.items()},
            "criteria": [
                {
                    "number": one.criterion.number,
                    "relation": one.criterion.relation,
                    "threshold": one.criterion.threshold,
                    "fails_at": one.criterion.fails_at,
                    "reason": texts.reason(one.criterion.number).as_dict(),
                    "outside": one.outside,
                    "passed": one.passed,
                }
                for one in self.judged
            ],
            "records": [{name: finite(cell) for name, cell in record.items()} for record in evidence.records],
            "figure": specification(evidence, texts, language),
            "notes": [texts.messages[note].as_dict() for note in evidence.notes],
        }


def run_claim(claim: Claim, *, quick: bool = False, seed: int = FIRST_SEED, data: Path | None = None) -> Outcome:
    """Run a claim's experiment and judge it by the claim's rule.

    Args:
        quick: whether to use shorter training runs.
        seed: the first of its seeds.
        data: folder with the user's own files.

    Raises:
        UsageError: for a seed out of range.
        UserError: if `data` is not a folder, or a file in it cannot be read; or if the claim's texts lack a name.
    """
    _check(seed, data)
    clock = time.monotonic()
    evidence = missing = None
    try:
        evidence = claim.experiment(claim.effort.setup(quick=quick, seed=seed, data=data))
    except MissingData as lacking:
        texts = claim.texts.messages.get(lacking.message) or shared_texts().report[lacking.message]
        missing = texts.format(**lacking.values)
    # The user's own files bring words of their own into a table.
    if evidence is not None and data is None and (untold := claim.texts.missing(evidence)):
        raise UserError(
            f"claim {claim.id}: its texts lack {', '.join(untold)}",
            where=str(Path(getfile(claim.experiment)).with_suffix(".toml")),
            hint="Name each number and column in [names], and translate each word of the table in [words].",
        )
    return judge_outcome(claim, evidence, missing, quick=quick, seed=seed, seconds=time.monotonic() - clock)


def judge_outcome(
    claim: Claim, evidence: Evidence | None, missing: Text | None, *, quick: bool, seed: int, seconds: float
) -> Outcome:
    """Judge evidence by the claim's rule; without evidence, the claim was not run.

    A shortened training cannot refute: that a little of it did not achieve something says nothing about more of it.
    """
    if evidence is None:
        return Outcome(claim, "not-run", (), None, missing, quick, seed, seconds)
    ruling = claim.rule.judge(evidence.numbers)
    outcome = Outcome(claim, ruling.verdict, ruling.judged, evidence, None, quick, seed, seconds)
    if outcome.verdict == "refuted" and outcome.shortened and claim.trains:
        return replace(outcome, verdict="not-settled")
    return outcome


def run_claims(
    claims: Iterable[Claim], *, quick: bool = False, seed: int = FIRST_SEED, data: Path | None = None
) -> Iterator[Outcome]:
    """Run claims one after another and yield each outcome when it is there. Arguments are those of `run_claim`.

    Raises:
        UsageError, UserError: as `run_claim`; wrong arguments raise before anything runs.
    """
    _check(seed, data)
    return (run_claim(claim, quick=quick, seed=seed, data=data) for claim in claims)


def _check(seed: int, data: Path | None) -> None:
    if not 0 <= seed <= _LAST_SEED:
        raise UsageError(
            f"expected a seed from 0 to {_LAST_SEED}, got {seed}",
            where="--seed",
            hint="Leave --seed out to use the seeds of the published report.",
        )
    if data is not None and not data.is_dir():
        raise UserError(
            f"{data} is not a folder",
            where=str(data),
            hint="Pass the folder that contains text.txt, analogies.txt and similarity.tsv.",
        )

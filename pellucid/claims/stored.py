"""Outcomes on disk, so that a report can be written again, in another language or with a corrected text, without a run.

Only what was measured is stored, never a verdict: the verdict follows from the current rule each time.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pellucid.claims.catalogue import all_claims
from pellucid.claims.claim import Claim
from pellucid.claims.evidence import Estimate, Evidence, Figure
from pellucid.claims.lab import Outcome, judge_outcome
from pellucid.claims.texts import Text
from pellucid.storage.files import write_text

__all__ = ["read_outcomes", "write_outcomes"]


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Write outcomes as JSON, one per line."""
    lines = [json.dumps(_as_json(one), ensure_ascii=False, allow_nan=False) for one in outcomes]
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_outcomes(path: Path) -> list[Outcome]:
    """Read stored outcomes and judge them by the current rules, in the order of the claims.

    An outcome stored before its rule required another number cannot be judged; it is left out, as if it had not run.
    """
    stored = {one["id"]: one for one in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    return [
        _outcome(claim, stored[claim.id])
        for claim in all_claims()
        if claim.id in stored and _can_be_judged(claim, stored[claim.id])
    ]


def _can_be_judged(claim: Claim, stored: Mapping[str, Any]) -> bool:
    return "numbers" not in stored or all(one.number in stored["numbers"] for one in claim.rule.all_criteria)


def _as_json(one: Outcome) -> dict[str, Any]:
    run = {"id": one.claim.id, "quick": one.quick, "seed": one.seed, "seconds": round(one.seconds, 1)}
    if one.evidence is None:
        return run | {"missing": None if one.missing is None else one.missing.as_dict()}
    return run | {
        "numbers": {name: [_written(value) for value in number] for name, number in one.evidence.numbers.items()},
        "records": [{key: _written(value) for key, value in record.items()} for record in one.evidence.records],
        "figure": asdict(one.evidence.figure),
        "notes": list(one.evidence.notes),
    }


def _outcome(claim: Claim, stored: Mapping[str, Any]) -> Outcome:
    evidence = missing = None
    if "numbers" in stored:
        evidence = Evidence(
            {name: Estimate(*map(_read, values)) for name, values in stored["numbers"].items()},
            [{key: _read(value) for key, value in record.items()} for record in stored["records"]],
            Figure(**stored["figure"]),
            tuple(stored["notes"]),
        )
    elif stored["missing"] is not None:
        missing = Text(**stored["missing"])
    return judge_outcome(
        claim, evidence, missing, quick=stored["quick"], seed=stored["seed"], seconds=stored["seconds"]
    )


def _written(value: Any) -> Any:
    """Convert a number for JSON: non-finite values become words, long ones keep seven significant digits."""
    if not isinstance(value, float):
        return [_written(each) for each in value] if isinstance(value, list) else value
    return float(f"{value:.7g}") if math.isfinite(value) else {"not finite": str(value)}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    return float(value["not finite"]) if isinstance(value, dict) else value

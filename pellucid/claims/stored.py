"""Outcomes on disk, so that a report can be written again, in another language or with a mended text, without a run.

What is stored is what was measured, never a verdict: that follows anew from the rule as it stands.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pellucid.claims.bilingual import Text
from pellucid.claims.catalogue import find_claims
from pellucid.claims.evidence import Estimate, Evidence, Figure
from pellucid.claims.lab import Outcome, judge_outcome
from pellucid.storage.files import write_text

__all__ = ["read_outcomes", "write_outcomes"]


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Write outcomes as JSON, a line each."""
    lines = [json.dumps(_stored(one), ensure_ascii=False, allow_nan=False) for one in outcomes]
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_outcomes(path: Path) -> list[Outcome]:
    """Return stored outcomes, judged by today's rules, in the order of the claims.

    What was stored before a rule came to ask for another number cannot be judged: it is left out, as if it had not run.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    found = {stored["id"]: stored for stored in map(json.loads, lines)}
    return [_outcome(found[claim.id]) for claim in find_claims(()) if claim.id in found and _judgeable(found[claim.id])]


def _judgeable(stored: Mapping[str, Any]) -> bool:
    (claim,) = find_claims([stored["id"]])
    return "numbers" not in stored or all(test.number in stored["numbers"] for test in claim.rule.tests)


def _stored(one: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {"id": one.claim.id, "quick": one.quick, "seed": one.seed, "seconds": round(one.seconds, 1)}
    if one.evidence is None:
        return told | {"missing": None if one.missing is None else one.missing.as_dict()}
    evidence = one.evidence
    figure = {**asdict(evidence.figure), "titles": {k: text.as_dict() for k, text in evidence.figure.titles.items()}}
    return told | {
        "numbers": {name: [_written(value) for value in number] for name, number in evidence.numbers.items()},
        "records": [{key: _written(value) for key, value in record.items()} for record in evidence.records],
        "figure": figure,
        "notes": [note.as_dict() for note in evidence.notes],
    }


def _outcome(stored: Mapping[str, Any]) -> Outcome:
    (claim,) = find_claims([stored["id"]])
    evidence = missing = None
    if "numbers" in stored:
        titles = {name: Text(**text) for name, text in stored["figure"]["titles"].items()}
        evidence = Evidence(
            {name: _measured(*values) for name, values in stored["numbers"].items()},
            [{key: _read(value) for key, value in record.items()} for record in stored["records"]],
            Figure(**{**stored["figure"], "titles": titles}),
            tuple(Text(**note) for note in stored["notes"]),
        )
    elif stored["missing"] is not None:
        missing = Text(**stored["missing"])
    return judge_outcome(
        claim, evidence, missing, quick=stored["quick"], seed=stored["seed"], seconds=stored["seconds"]
    )


def _measured(value: Any, low: Any, high: Any, n: int) -> Estimate:
    return Estimate(_read(value), _read(low), _read(high), n)


def _written(value: Any) -> Any:
    """Return a number for JSON: what is not finite as a word, what is long with the digits that count."""
    if not isinstance(value, float):
        return [_written(each) for each in value] if isinstance(value, list) else value
    return float(f"{value:.7g}") if math.isfinite(value) else {"not finite": str(value)}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    return float(value["not finite"]) if isinstance(value, dict) else value

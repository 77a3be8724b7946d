"""A statement, how it is measured, and how the verdict follows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pellucid.claims.bilingual import Text
from pellucid.claims.evidence import Evidence
from pellucid.claims.rules import Rule

__all__ = ["EXACT", "FIRST_SEED", "Budget", "Claim", "Effort"]

FIRST_SEED = 2_001
"""Of every run unless another is asked for. Rules were fixed, and some of them changed, on the results of seeds from 1
on (docs/decisions/0014-the-claims-lab.md); from here on none had been drawn then."""


@dataclass(frozen=True)
class Budget:
    """What an experiment may spend.

    Attributes:
        seeds: how often it is done anew, where chance plays.
        steps: updates of each training; 0 where nothing is trained.
        size: how much data, in the unit that the claim's `measured` names; 0 where there is nothing to choose.
        skip: how many seeds are passed over, because a rule was changed after they had been seen.
        data: folder with the user's own files; see `pellucid.claims.user_data`.
    """

    seeds: int = 1
    steps: int = 0
    size: int = 0
    skip: int = 0
    data: Path | None = None

    def every_seed(self, seed: int) -> Iterator[int]:
        """Yield as many seeds as there are, from `seed` on, or from behind those that are passed over."""
        first = seed + self.skip
        yield from range(first, first + self.seeds)


@dataclass(frozen=True)
class Effort:
    """The budgets of a claim, fixed before it runs: shrunken for the quick lab, and whole."""

    quick: Budget
    full: Budget

    def budget(self, *, quick: bool, data: Path | None) -> Budget:
        """Return one of the two, with the user's data."""
        return replace(self.quick if quick else self.full, data=data)


EXACT = Effort(Budget(), Budget())
"""Of claims in which nothing is trained and nothing can be shrunken."""


@dataclass(frozen=True)
class Claim:
    """A statement as explainers make it, and its experiment.

    Attributes:
        id: a letter for the topic, and a number.
        statement: one sentence.
        equation: in Unicode.
        measured: what the experiment does.
        rule: how the verdict follows; fixed before the run.
        reading: what it means, with what the literature says; true whatever the verdict.
        sources: author, year, title or place.
        run: the experiment: a budget and a seed to what was measured.
        effort: its budgets.
    """

    id: str
    statement: Text
    equation: str
    measured: Text
    rule: Rule
    reading: Text
    sources: tuple[str, ...]
    run: Callable[[Budget, int], Evidence]
    effort: Effort = EXACT

    @property
    def trains(self) -> bool:
        """Whether something is trained."""
        return self.effort.full.steps > 0

    def as_dict(self) -> dict[str, Any]:
        """Return what `pellucid claims list --json` says of it."""
        return {
            "id": self.id,
            "statement": self.statement.as_dict(),
            "equation": self.equation,
            "sources": list(self.sources),
        }

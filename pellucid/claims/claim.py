"""A claim: a statement, the experiment that tests it, and the rule that turns numbers into a verdict."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from inspect import getfile
from pathlib import Path
from typing import Any

from pellucid.claims.evidence import Evidence, MissingData
from pellucid.claims.rules import Criterion, Rule, at_least, at_most
from pellucid.claims.texts import ClaimTexts, load_texts

__all__ = ["EXACT", "FIRST_SEED", "Claim", "Effort", "Setup", "at_least", "at_most", "claim"]

FIRST_SEED = 2_001
"""The default first seed. Rules were fixed, and some of them changed, on the results of seeds from 1 on
(docs/decisions/0014-the-claims-lab.md); from this one on, none had been drawn by then."""


@dataclass(frozen=True)
class Setup:
    """How an experiment is run: what it may spend, and where its random numbers start.

    Attributes:
        seeds: number of repetitions, each with its own seed.
        steps: updates of each training run; 0 if nothing is trained.
        size: amount of data, in the unit that the claim's `measured` names; 0 if there is nothing to choose.
        skip: seeds to pass over, because a rule was changed after they had been seen.
        seed: the first seed.
        data: folder with the user's own files: text.txt (English, one sentence per line), analogies.txt (in the format
            of Google's questions-words.txt), similarity.tsv (word, word, human similarity score).
    """

    seeds: int = 1
    steps: int = 0
    size: int = 0
    skip: int = 0
    seed: int = FIRST_SEED
    data: Path | None = None

    def every_seed(self) -> Iterator[int]:
        """Count through the seeds."""
        first = self.seed + self.skip
        yield from range(first, first + self.seeds)

    def require_file(self, name: str) -> Path:
        """Find one of the user's own files.

        Raises:
            MissingData: if there is no folder, or no such file in it.
        """
        if self.data is None:
            raise MissingData("missing_data_folder", name=name)
        if not (self.data / name).is_file():
            raise MissingData("missing_file", name=name, folder=self.data)
        return self.data / name


@dataclass(frozen=True)
class Effort:
    """What a claim may spend, fixed before it runs: shortened for the quick lab, and in full."""

    quick: Setup
    full: Setup

    def setup(self, *, quick: bool, seed: int, data: Path | None) -> Setup:
        """Choose one of the two, for a seed and the user's data."""
        return replace(self.quick if quick else self.full, seed=seed, data=data)


EXACT = Effort(Setup(), Setup())
"""For experiments that train nothing and that nothing could shorten."""


@dataclass(frozen=True)
class Claim:
    """A statement as explainers make it, and its experiment.

    Attributes:
        texts: all that is said about it.
        rule: how the verdict follows; fixed before the run.
        experiment: takes the measurements.
        effort: what the experiment may spend.
    """

    texts: ClaimTexts
    rule: Rule
    experiment: Callable[[Setup], Evidence]
    effort: Effort = EXACT

    @property
    def id(self) -> str:
        """The letter of the topic and a number."""
        return self.texts.id

    @property
    def trains(self) -> bool:
        """Whether something is trained."""
        return self.effort.full.steps > 0

    def as_dict(self) -> dict[str, Any]:
        """Convert to the JSON of `pellucid claims list --json`."""
        return {
            "id": self.id,
            "statement": self.texts.statement.as_dict(),
            "equation": self.texts.equation,
            "sources": list(self.texts.sources),
        }


def claim(
    experiment: Callable[..., Evidence],
    *criteria: Criterion,
    outside: tuple[Criterion, ...] = (),
    effort: Effort = EXACT,
) -> Claim:
    """Build the claim that an experiment tests; its texts are in the TOML file beside the experiment.

    Args:
        experiment: takes the measurements; called with a `Setup` only.
        criteria: what the statement says, always or under the claim's condition.
        outside: what it says where the condition is not met.
        effort: what the experiment may spend.

    Raises:
        UserError: if the texts are missing, malformed, or do not fit the rule.
    """
    rule = Rule(criteria, outside)
    return Claim(load_texts(Path(getfile(experiment)).with_suffix(".toml"), rule), rule, experiment, effort)

"""What an experiment measured: numbers with their intervals, a table, and what is to be drawn of it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pellucid.claims.bilingual import Text

__all__ = [
    "Estimate",
    "Evidence",
    "Figure",
    "MissingData",
    "Record",
    "difference",
    "exact_values",
    "finite",
    "mean_over_seeds",
]

Record = Mapping[str, Any]

# 97.5 % quantiles of Student's t by degrees of freedom, from 1 on; beyond the list those of the normal distribution do.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


class Estimate(NamedTuple):
    """A number and how far it can be trusted.

    Attributes:
        value: the number, or the mean over seeds.
        low, high: the interval that the verdict is read from; both are the value where nothing is drawn at random.
        n: how many seeds, or draws, it is the mean of.
    """

    value: float
    low: float
    high: float
    n: int

    def columns(self, name: str) -> dict[str, float]:
        """Return it for a row of a table: the value under `name`, and its interval as low and high."""
        return {name: self.value, "low": self.low, "high": self.high}

    def as_dict(self) -> dict[str, float | int | None]:
        """Return it for JSON, which has neither infinity nor NaN: None stands for them."""
        finite = {name: number if math.isfinite(number) else None for name, number in self._asdict().items()}
        return {**finite, "n": self.n}


class MissingData(Exception):
    """An experiment cannot run here.

    Args:
        what: the file or the extra that it needs, and how to give it.
    """

    def __init__(self, what: Text) -> None:
        super().__init__(what.en)
        self.what = what


@dataclass(frozen=True)
class Figure:
    """How a table is drawn.

    Attributes:
        mark: line, bar, point, or heat (cells coloured by `colour`).
        x, y, colour: columns of the table.
        titles: what the axes are called, by column; a column's own name where none is given.
        log_x, log_y: whether an axis is logarithmic.
        column: a column by which the figure is split into several side by side.
    """

    mark: Literal["line", "bar", "point", "heat"]
    x: str
    y: str
    colour: str | None = None
    titles: Mapping[str, Text] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False
    column: str | None = None


@dataclass(frozen=True)
class Evidence:
    """What came out of an experiment.

    Attributes:
        numbers: by name, among them those that the rule reads.
        records: the table, row by row.
        figure: how it is drawn.
        notes: what else has to be said of this run, such as data that stood in for others.
    """

    numbers: Mapping[str, Estimate]
    records: Sequence[Record]
    figure: Figure
    notes: tuple[Text, ...] = ()


def finite(value: Any) -> Any:
    """Return a cell for JSON, which has neither infinity nor NaN: None stands for them, in a list too."""
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def exact_values(**numbers: float) -> dict[str, Estimate]:
    """Return numbers in which nothing is random."""
    return {name: Estimate(float(value), float(value), float(value), 1) for name, value in numbers.items()}


def mean_over_seeds(values: Iterable[float]) -> Estimate:
    """Return the mean over seeds with its 95 % interval: mean ± t · deviation / √n.

    One value alone says nothing of its spread: its interval is everything.

    Source:
        Student 1908.
    """
    drawn = [float(value) for value in values]
    n, mean = len(drawn), math.fsum(drawn) / len(drawn)
    if n < 2:
        return Estimate(mean, -math.inf, math.inf, n)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in drawn) / (n - 1))
    reach = (_STUDENT[n - 2] if n - 2 < len(_STUDENT) else 1.96) * deviation / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, n)


def difference(one: Iterable[float], other: Iterable[float]) -> Estimate:
    """Return by how much one exceeds the other, seed by seed: the mean of one − other with its interval."""
    return mean_over_seeds(a - b for a, b in zip(one, other, strict=True))

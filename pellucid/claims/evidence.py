"""What an experiment measured: numbers with their intervals, a table, and how to plot it."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "Estimate",
    "Evidence",
    "Figure",
    "MissingData",
    "Record",
    "exact_values",
    "finite",
    "mean_over_seeds",
    "paired_difference",
    "share_over_seeds",
]

Record = Mapping[str, Any]


class Estimate(NamedTuple):
    """A number and its confidence interval.

    Attributes:
        value: the number, or the mean over seeds.
        low, high: the 95 % interval that the verdict is read from; both equal the value if nothing is random.
        n: number of seeds, or draws, in the mean.
    """

    value: float
    low: float
    high: float
    n: int

    def columns(self, name: str) -> dict[str, float]:
        """Convert to cells of a table: the value under `name`, and its interval as `low` and `high`."""
        return {name: self.value, "low": self.low, "high": self.high}

    def as_dict(self) -> dict[str, float | int | None]:
        """Convert to JSON, which has neither infinity nor NaN: they become null."""
        return {"value": finite(self.value), "low": finite(self.low), "high": finite(self.high), "n": self.n}


class MissingData(Exception):
    """An experiment cannot run without data that only the user can give.

    Args:
        message: the name of a message in the claim's texts or in the shared report texts.
        values: what the message is filled in with.
    """

    def __init__(self, message: str, **values: object) -> None:
        super().__init__(message)
        self.message = message
        self.values = values


@dataclass(frozen=True)
class Figure:
    """How to plot a table. Axis titles are the names of the columns in the claim's texts.

    Attributes:
        mark: line, bar, point, or heat (cells coloured by `colour`).
        x, y, colour: columns of the table.
        log_x, log_y: whether an axis is logarithmic.
        column: a column whose values split the figure into several side by side.
    """

    mark: Literal["line", "bar", "point", "heat"]
    x: str
    y: str
    colour: str | None = None
    log_x: bool = False
    log_y: bool = False
    column: str | None = None


@dataclass(frozen=True)
class Evidence:
    """What came out of an experiment.

    Attributes:
        numbers: by name, including those that the rule reads.
        records: the rows of the table.
        figure: how to plot it.
        notes: names of messages in the claim's texts about this run, such as data that replaced other data.
    """

    numbers: Mapping[str, Estimate]
    records: Sequence[Record]
    figure: Figure
    notes: tuple[str, ...] = ()


def finite(value: Any) -> Any:
    """Prepare a cell for JSON, which has neither infinity nor NaN: they become None, in lists too."""
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def exact_values(**numbers: float) -> dict[str, Estimate]:
    """Wrap numbers in which nothing is random."""
    return {name: Estimate(float(value), float(value), float(value), 1) for name, value in numbers.items()}


def mean_over_seeds(values: Iterable[float]) -> Estimate:
    """Average over seeds, with the 95 % interval of Student's t: mean ± t · deviation / √n.

    A single value says nothing about the spread: its interval is infinite.

    Source:
        Student 1908.
    """
    from scipy.special import stdtrit

    drawn = [float(value) for value in values]
    n, mean = len(drawn), math.fsum(drawn) / len(drawn)
    if n < 2:
        return Estimate(mean, -math.inf, math.inf, n)
    reach = float(stdtrit(n - 1, 0.975)) * statistics.stdev(drawn, mean) / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, n)


def share_over_seeds(values: Iterable[float]) -> Estimate:
    """Average shares such as accuracies over seeds; the interval ends at 0 and at 1, beyond which no share lies."""
    mean = mean_over_seeds(values)
    return mean._replace(low=max(mean.low, 0.0), high=min(mean.high, 1.0))


def paired_difference(one: Iterable[float], other: Iterable[float]) -> Estimate:
    """Average one − other over seeds, with its interval."""
    return mean_over_seeds(a - b for a, b in zip(one, other, strict=True))

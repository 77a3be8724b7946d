"""Flags of every command that lets a language model go on with a text."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Parameter

__all__ = ["DEFAULT_SAMPLING", "SamplingFlags"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SamplingFlags:
    """How to go on; the model's own settings (generation_config.json) hold for what is not given."""

    tokens: Annotated[int | None, Parameter(name=["--tokens", "-n"])] = None
    """Most new tokens."""

    temperature: float | None = None
    """1: draw as the model says; below: the probable more often; 0: always the most probable."""

    top_k: int | None = None
    """Draw among the k most probable tokens; 0: among all."""

    top_p: float | None = None
    """Draw among the fewest most probable tokens that have this share of the probability; 1: among all."""

    min_p: float | None = None
    """Draw among tokens at least this share as probable as the most probable one."""

    repetition_penalty: float | None = None
    """Above 1: make tokens that have occurred less probable; the prompt's count, and once is as often."""

    repetition_window: int | None = None
    """So many last tokens count for the penalty; 0: all."""

    stop: Annotated[tuple[str, ...], Parameter(negative="")] = ()
    """End before this string; may be given several times."""

    seed: int | None = None
    """Seed of the draws: with the same the same text; another each time unless given."""

    sliding: Annotated[bool | None, Parameter(negative="")] = None
    """When the context is full, go on with its latest half, instead of ending or refusing a long prompt."""

    def settings(self) -> dict[str, Any]:
        """Return what was given as settings of the draw."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value not in (None, ())}


DEFAULT_SAMPLING = SamplingFlags()

"""The position schemes by name, and their constraints on a model's sizes; settings import it without PyTorch."""

from typing import Literal, TypeAlias, assert_never

__all__ = ["PositionScheme", "check_position_sizes", "position_limit"]

PositionScheme: TypeAlias = Literal["sinusoidal", "learned", "rope", "alibi", "none"]
"""How the positions of tokens enter a model; `positions.py` has the modules."""


def check_position_sizes(scheme: PositionScheme, d_model: int, d_head: int) -> None:
    """Check that a scheme works at these sizes.

    Raises:
        ValueError: if it does not.
    """
    match scheme:
        case "rope":
            if d_head % 2:
                raise ValueError(
                    f"rotary positions need heads of even width, got {d_head}:"
                    " change the number of heads or their width, or set positions to something other than rope"
                )
        case "sinusoidal":
            if d_model % 2:
                raise ValueError(f"sinusoidal positions need an even d_model, got {d_model}: add or subtract 1")
        case "learned" | "alibi" | "none":
            pass
        case _:
            assert_never(scheme)


def position_limit(scheme: PositionScheme, learned_positions: int) -> int | None:
    """Look up how many positions a scheme can tell apart; None if any number."""
    match scheme:
        case "learned":
            return learned_positions
        case "sinusoidal" | "rope" | "alibi" | "none":
            return None
        case _:
            assert_never(scheme)

"""Counts with their nouns, for messages: 1 pair, 2 pairs."""

__all__ = ["pluralize"]


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun, such as `1 pair` or `2,000 pairs`; `plural` is an irregular plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

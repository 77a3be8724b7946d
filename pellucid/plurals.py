"""Numbers of things, for people: one pair, two pairs."""

__all__ = ["pluralize"]


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """Return `1 pair`, `0 pairs`, `2,000 pairs`: a number and its noun, which takes an s unless `plural` is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

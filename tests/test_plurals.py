import pytest

from pellucid.plurals import pluralize


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1000, "1,000 pairs"), (21, "21 pairs")]
)
def test_only_one_is_not_a_plural(number: int, said: str) -> None:
    assert pluralize(number, "pair") == said


def test_a_plural_of_its_own_is_taken() -> None:
    assert pluralize(1, "entry", "entries") == "1 entry"
    assert pluralize(2, "entry", "entries") == "2 entries"

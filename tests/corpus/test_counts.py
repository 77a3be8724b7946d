import pytest

from pellucid.corpus.counts import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1000, "1,000 pairs"), (21, "21 pairs")]
)
def test_only_one_is_not_a_plural(number: int, said: str) -> None:
    assert counted(number, "pair") == said


def test_a_plural_of_its_own_is_taken() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(2, "entry", "entries") == "2 entries"

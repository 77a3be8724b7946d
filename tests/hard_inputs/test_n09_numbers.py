"""N9: digits that are dropped or doubled are told."""

import pytest

from pellucid.generation.checks import check_numbers

WAYS = ["150 000", "150,000", "150.000", "150\u202f000", "150\u00a0000", "150'000", "15万", "150000"]


@pytest.mark.parametrize("written", WAYS)
def test_thousands_are_one_number_however_they_are_set_apart(written: str) -> None:
    assert check_numbers("150 000 neue Fälle", f"There are {written} new cases.") is None


@pytest.mark.parametrize("written", ["15,000", "1500,000", "150", "150,000,000", "100 50,000", ""])
def test_a_number_that_changed_is_told(written: str) -> None:
    notice = check_numbers("150 000 neue Fälle", f"There are {written} new cases.")
    assert notice is not None
    assert "150000 only in the source" in notice.message


def test_180_000_is_not_doubled_in_silence() -> None:
    assert check_numbers("180,000", "180,000") is None
    assert check_numbers("180,000", "180,000 180,000") is not None

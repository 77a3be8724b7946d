from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pellucid.errors import UserError
from pellucid.storage.metrics import append_metrics, read_metrics, truncate_metrics


def test_records_come_back_in_order(tmp_path: Path) -> None:
    assert list(read_metrics(tmp_path)) == []
    records: list[dict[str, object]] = [{"step": 1, "sample": "好\u2028x"}, {"step": 2, "loss": 1.5}]
    for record in records:
        append_metrics(tmp_path, record)
    assert list(read_metrics(tmp_path)) == records
    assert (tmp_path / "metrics.jsonl").read_bytes().count(b"\n") == 2


def test_a_line_cut_off_by_a_kill_is_passed_over(tmp_path: Path) -> None:
    append_metrics(tmp_path, {"step": 1})
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write('{"step": 2, "sample": "好'.encode()[:-1])
    assert list(read_metrics(tmp_path)) == [{"step": 1}]
    truncate_metrics(tmp_path, 5)
    append_metrics(tmp_path, {"step": 2})
    assert list(read_metrics(tmp_path)) == [{"step": 1}, {"step": 2}]


def test_records_after_the_checkpoint_are_dropped(tmp_path: Path) -> None:
    truncate_metrics(tmp_path, 1)
    for step in (1, 2, 3):
        append_metrics(tmp_path, {"step": step})
    truncate_metrics(tmp_path, 2)
    assert [record["step"] for record in read_metrics(tmp_path)] == [1, 2]


def test_a_loss_that_is_no_number_is_our_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        append_metrics(tmp_path, {"step": 1, "loss": float("nan")})


def test_a_full_disk_names_the_file(tmp_path: Path, small_disk: Callable[[int], AbstractContextManager[None]]) -> None:
    with small_disk(10), pytest.raises(UserError, match="the disk is full") as caught:
        append_metrics(tmp_path, {"step": 1, "sample": "a" * 100})
    assert caught.value.where == (str(tmp_path / "metrics.jsonl"),)


def test_a_line_with_a_number_that_json_does_not_have_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": NaN}\n{"step": 2}\n', encoding="utf-8")
    assert list(read_metrics(tmp_path)) == [{"step": 2}]

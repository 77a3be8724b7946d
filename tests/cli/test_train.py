"""`pellucid train translator`, stopped by Ctrl-C."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pellucid.cli.app import main
from pellucid.training import prepare_pairs, translation_task
from pellucid.training.translation_task import TranslationTask
from tests.training.conftest import SMALL, generated_pairs

Captured = pytest.CaptureFixture[str]
Stopping = Callable[..., None]


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., int]:
    """`train(*more)` trains a small translator for four steps, validated after every second, in tmp_path / "model"."""
    text = "".join(f"{source}\t{target}\n" for source, target in generated_pairs(100))
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")

    def run(*more: str) -> int:
        given = {**SMALL, "training.steps": 4}
        flags = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        command = ["train", "translator", str(tmp_path / "pairs.tsv"), "-o", str(tmp_path / "model")]
        return main([*command, *more, *flags])

    return run


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Stopping:
    """`stopped(module, name, times)` lets Ctrl-C come as often just before a function does its work, the first time."""

    def stop(module: Any, name: str, times: int = 1) -> None:
        work = getattr(module, name)

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            monkeypatch.setattr(module, name, work)
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            return work(*args, **kwargs)

        monkeypatch.setattr(module, name, interrupted)

    return stop


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.parametrize("work", ["examine", "_train_tokenizers", "_write_ids", "fit_lexicon"])
def test_before_the_first_step_ctrl_c_breaks_off_at_once_and_keeps_nothing(
    train: Callable[..., int], stopped: Stopping, tmp_path: Path, capsys: Captured, work: str
) -> None:
    stopped(prepare_pairs, work)
    assert train() == 130
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "Stopped before the first step. Nothing is kept; to start over, run the same command with --resume."
    assert left(tmp_path / "model") == []
    assert train("--resume") == 0


def test_a_model_that_shall_be_replaced_outlives_a_stop_before_the_first_step(
    train: Callable[..., int], stopped: Stopping, tmp_path: Path, capsys: Captured
) -> None:
    assert train() == 0
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    stopped(prepare_pairs, "fit_lexicon")
    assert train("--overwrite") == 130
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"Nothing is kept, and {tmp_path / 'model'} is unchanged; to start over, run the same command again." in said
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before
    assert train("--overwrite") == 0


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_ctrl_c_while_validating_waits_for_the_checkpoint(
    train: Callable[..., int], stopped: Stopping, capsys: Captured, more: list[str]
) -> None:
    if more:
        assert train() == 0
        capsys.readouterr()
    stopped(translation_task, "score_translations")
    assert train(*more) == 130
    said = capsys.readouterr().err.splitlines()
    assert said.count("Stopping after this step, with a checkpoint; press Ctrl-C again to stop at once.") == 1
    how = "pass --resume instead of --overwrite" if more else "run the same command with --resume"
    assert said[-1] == f"Stopped after step 2. The checkpoint of step 2 is kept; to continue, {how}."
    assert train("--resume") == 0


def test_a_second_ctrl_c_breaks_off_at_once_and_says_what_is_kept(
    train: Callable[..., int], stopped: Stopping, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = TranslationTask.validation_loss

    def second_time(*args: Any) -> float | None:
        monkeypatch.setattr(TranslationTask, "validation_loss", loss)
        stopped(TranslationTask, "validation_loss", times=2)
        return loss(*args)

    monkeypatch.setattr(TranslationTask, "validation_loss", second_time)
    assert train() == 130
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "Stopped. The checkpoint of step 3 is kept; to continue, run the same command with --resume."
    assert train("--resume") == 0
    assert "Continuing from step 3" in capsys.readouterr().err

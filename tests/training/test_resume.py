"""A killed run resumes bit for bit: the final weights are those of the run that nobody killed."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pellucid.errors import UsageError, UserError
from pellucid.storage.checkpoints import Checkpoint, write_checkpoint
from pellucid.storage.files import write_error
from pellucid.storage.metrics import read_metrics
from pellucid.storage.tensors import read_tensors
from pellucid.training import loop, prepare_pairs, run_folder
from pellucid.training.clock import Clock
from pellucid.training.run import Run
from pellucid.training.state import Validation
from pellucid.training.train_translator import train_translator

from .conftest import SMALL, generated_pairs

ROOT = Path(__file__).parent.parent.parent
STEPS = 24

# Trains, prints each step's number, and, if asked to, kills itself at the n-th time that a file is forced to the disk:
# that is in the middle of writing a checkpoint, the model or the prepared text.
PROGRAM = """
import os, signal, sys
from pellucid.training.train_translator import train_translator
source, out, steps, settings, resume, fatal = eval(sys.argv[1])
if fatal:
    forced, calls = os.fsync, []
    def fsync(handle):
        calls.append(handle)
        if len(calls) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        forced(handle)
    os.fsync = fsync
for step in train_translator([source], out, steps=steps, settings=settings, resume=resume):
    print(step.step, flush=True)
"""

SETTINGS = {**SMALL, "training.checkpoint_steps": 5, "training.keep_checkpoints": 2, "tokenizer.dropout": 0.1}


def _start(source: Path, out: Path, resume: bool, fatal: int = 0) -> "subprocess.Popen[str]":
    arguments = repr((str(source), str(out), STEPS, SETTINGS, resume, fatal))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, arguments], stdout=subprocess.PIPE, text=True, env=environment
    )


def _run_until_killed(source: Path, out: Path, resume: bool, after_step: int | None, fatal: int = 0) -> int:
    """Start or resume; kill after the given number of printed steps, if any; return the exit code."""
    process = _start(source, out, resume, fatal)
    assert process.stdout is not None
    for printed, _ in enumerate(process.stdout, start=1):
        if printed == after_step:
            process.kill()
            break
    process.stdout.close()
    return process.wait()


def _assert_same_run(one: Path, other: Path) -> None:
    for place in ("model.safetensors", f"checkpoints/step-{STEPS:08d}/model.safetensors"):
        first, second = read_tensors(one / place), read_tensors(other / place)
        assert first.keys() == second.keys()
        for name in first:
            assert first[name].equal(second[name]), name
    steps = [[(line["step"], line["loss"]) for line in read_metrics(folder)] for folder in (one, other)]
    assert steps[0] == steps[1]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The text, and the folder of the run that nobody kills; tests only read it."""
    folder = tmp_path_factory.mktemp("resume")
    source = folder / "pairs.tsv"
    text = "".join(f"{source}\t{target}\n" for source, target in generated_pairs(300))
    source.write_text(text, encoding="utf-8")
    assert _run_until_killed(source, folder / "whole", False, None) == 0
    return source, folder / "whole"


def test_killed_at_random_steps_it_ends_with_the_same_weights(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    source, whole = uninterrupted
    out = tmp_path / "killed"
    moments = random.Random(os.urandom(8))
    kills = 0
    while _run_until_killed(source, out, kills > 0, moments.randint(1, 11)) == -signal.SIGKILL:
        kills += 1
        assert kills < 30
    assert kills > 0
    _assert_same_run(whole, out)


@pytest.mark.parametrize("fatal", [4, 17, 23, 30])
def test_killed_while_a_file_is_written_it_ends_with_the_same_weights(
    uninterrupted: tuple[Path, Path], tmp_path: Path, fatal: int
) -> None:
    source, whole = uninterrupted
    out = tmp_path / "killed"
    assert _run_until_killed(source, out, False, None, fatal) == -signal.SIGKILL
    assert _run_until_killed(source, out, True, None) == 0
    _assert_same_run(whole, out)
    leftovers = [path.name for path in (*out.iterdir(), *(out / "checkpoints").iterdir()) if path.name[0] == "."]
    assert leftovers == []


def test_closing_the_generator_writes_a_checkpoint_from_which_it_goes_on(
    uninterrupted: tuple[Path, Path], tmp_path: Path
) -> None:
    source, whole = uninterrupted
    run = train_translator([source], tmp_path / "closed", steps=STEPS, settings=SETTINGS)
    for step in run:
        if step.step == 7:
            break
    run.close()  # type: ignore[attr-defined]
    assert (tmp_path / "closed" / "checkpoints" / "step-00000007").is_dir()
    list(train_translator([], tmp_path / "closed", steps=STEPS, resume=True))
    _assert_same_run(whole, tmp_path / "closed")


def test_a_finished_run_goes_on_only_if_more_is_asked(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    source, whole = uninterrupted[0], shutil.copytree(uninterrupted[1], tmp_path / "whole")
    before = (whole / "model.safetensors").read_bytes()
    assert list(train_translator([source], whole, resume=True)) == []
    assert (whole / "model.safetensors").read_bytes() == before
    more = list(train_translator([source], whole, resume=True, steps=STEPS + 2))
    assert [step.step for step in more] == [STEPS + 1, STEPS + 2]


def _everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("length", "said", "more"),
    [
        ({}, "24 steps done of 24", "--steps 48"),
        ({"steps": 10}, "24 steps done of 10", "--steps 48"),
        ({"minutes": 1e-4}, "of 0.0001 minutes", "--minutes 2"),
    ],
)
def test_a_run_with_nothing_left_to_do_says_so_and_changes_nothing(
    uninterrupted: tuple[Path, Path], tmp_path: Path, length: dict[str, Any], said: str, more: str
) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    before = _everything(whole)
    told: list[str] = []
    assert list(train_translator([], whole, resume=True, log=told.append, **length)) == []
    assert len(told) == 1
    assert told[0].startswith("Nothing left to do: 24 steps done")
    assert said in told[0]
    assert more in told[0]
    assert _everything(whole) == before


def test_killed_after_its_last_step_a_run_still_chooses_its_weights(
    uninterrupted: tuple[Path, Path], tmp_path: Path
) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    report = json.loads((whole / "report.json").read_text(encoding="utf-8"))
    (whole / "report.json").write_text(json.dumps({"data": report["data"]}), encoding="utf-8")
    (whole / "model.safetensors").unlink()
    told: list[str] = []
    assert list(train_translator([], whole, resume=True, log=told.append)) == []
    assert "Saved the" in told[-1]
    _assert_same_run(uninterrupted[1], whole)


def test_without_a_checkpoint_it_starts_over_and_says_so(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    told: list[str] = []
    run = train_translator([pairs_file(100)], tmp_path / "new", steps=2, settings=SMALL, resume=True, log=told.append)
    assert [step.step for step in run] == [1, 2]
    assert any("starting over" in line for line in told)


def test_old_checkpoints_are_pruned_and_the_best_is_kept(uninterrupted: tuple[Path, Path]) -> None:
    _, whole = uninterrupted
    names = sorted(path.name for path in (whole / "checkpoints").glob("step-*"))
    state = json.loads((whole / "checkpoints" / names[-1] / "state.json").read_text())["state"]
    assert names[-1] == f"step-{STEPS:08d}"
    assert len(names) <= 3
    assert f"step-{state['best_step']:08d}" in names


@pytest.mark.parametrize("other", [{"model.d_model": 64}, {"model.encoder_layers": 2}, {"tokenizer.vocab_size": 999}])
def test_what_a_run_was_begun_with_cannot_change(uninterrupted: tuple[Path, Path], other: dict[str, object]) -> None:
    source, whole = uninterrupted
    with pytest.raises(UsageError, match=f"{next(iter(other))} is fixed"):
        train_translator([source], whole, steps=STEPS + 2, settings=SETTINGS | other, resume=True)


@pytest.mark.parametrize("other", [{"training.max_tokens": 20}, {"training.guided_heads": 1}])
def test_what_the_text_and_the_heads_were_prepared_with_cannot_change(
    uninterrupted: tuple[Path, Path], other: dict[str, object]
) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(other))} is fixed"):
        train_translator([], uninterrupted[1], steps=STEPS + 2, settings=other, resume=True)


def test_guidance_cannot_begin_where_no_heads_were_chosen(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    unguided = {**SMALL, "training.guided_weight": 0.0}
    list(train_translator([pairs_file(100)], tmp_path / "model", steps=1, settings=unguided))
    with pytest.raises(UsageError, match=r"training\.guided_weight is fixed at 0"):
        train_translator([], tmp_path / "model", steps=2, settings={"training.guided_weight": 1}, resume=True)


def test_another_recipe_is_refused_and_its_own_is_not(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    mine, model = tmp_path / "mine.toml", tmp_path / "model"
    text = "[model]\nd_model = 16\nn_heads = 2\nd_ff = 16\nencoder_layers = 1\n[training]\nlearning_rate = 1e-3\n"
    mine.write_text(text, encoding="utf-8")
    list(train_translator([pairs_file(100)], model, steps=1, recipe=mine))
    assert list(train_translator([], model, resume=True, recipe=mine)) == []
    for recipe in ("tiny", "fast"):
        with pytest.raises(UsageError, match=rf"started with recipe .*mine\.toml, got {recipe}"):
            train_translator([], model, steps=2, resume=True, recipe=recipe)
    mine.write_text(text.replace("1e-3", "2e-3"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"training\.learning_rate was 0\.001, is now 0\.002") as caught:
        train_translator([], model, steps=2, resume=True, recipe=mine)
    assert caught.value.where == (f"--recipe {mine}",)
    mine.write_text("seed = 3\n", encoding="utf-8")
    with pytest.raises(UserError, match="seed is a single value"):
        train_translator([], model, steps=2, resume=True, recipe=mine)


def test_a_named_recipe_is_remembered(uninterrupted: tuple[Path, Path]) -> None:
    assert list(train_translator([], uninterrupted[1], resume=True, recipe="fast")) == []
    with pytest.raises(UsageError, match="started with recipe fast, got tiny"):
        train_translator([], uninterrupted[1], steps=STEPS + 1, resume=True, recipe="tiny")


def test_another_model_to_train_on_is_refused(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    source, whole = uninterrupted
    with pytest.raises(UsageError, match="started without --from"):
        train_translator([source], whole, steps=STEPS + 1, resume=True, start_from=whole)
    list(train_translator([source], tmp_path / "on", steps=1, start_from=whole))
    again: dict[str, Any] = {"steps": 2, "resume": True}
    assert list(train_translator([source], tmp_path / "on", start_from=whole, **again))
    with pytest.raises(UsageError, match=f"started from {whole}, got"):
        train_translator([source], tmp_path / "on", start_from=tmp_path / "on", **again)
    # Without a checkpoint it starts over, from the same model, whether that is named again or not.
    for checkpoint in (tmp_path / "on" / "checkpoints").glob("step-*"):
        shutil.rmtree(checkpoint)
    list(train_translator([source], tmp_path / "on", **again))
    tokenizers = [(folder / "tokenizer.json").read_bytes() for folder in (whole, tmp_path / "on")]
    assert tokenizers[0] == tokenizers[1]
    config = json.loads((tmp_path / "on" / "config.json").read_text(encoding="utf-8"))
    assert config["begun_with"] == {"recipe": "fast", "from": str(whole)}


def test_other_validation_pairs_are_said_to_be_passed_over_and_other_languages_refused(
    uninterrupted: tuple[Path, Path], tmp_path: Path
) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    told: list[str] = []
    list(train_translator([], whole, steps=STEPS + 1, resume=True, valid=["v.tsv"], log=told.append))
    assert any("not read: v.tsv" in line for line in told)
    with pytest.raises(UsageError, match="started with target language unknown, got fr"):
        list(train_translator([], whole, steps=STEPS + 2, resume=True, target_lang="fr"))


def test_batches_averages_and_dropout_can_change(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    source, whole = uninterrupted[0], shutil.copytree(uninterrupted[1], tmp_path / "whole")
    changes: list[dict[str, object]] = [
        {"training.average_decay": None, "training.batch_tokens": 3000},
        {"training.average_decay": "0.9", "model.dropout": "0.3", "training.seed": 5},
    ]
    for count, settings in enumerate(changes, 1):
        run = train_translator([source], whole, steps=STEPS + count, settings=settings, resume=True)
        assert [step.step for step in run] == [STEPS + count]


def test_other_text_is_said_to_be_passed_over(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    told: list[str] = []
    list(train_translator(["more.tsv"], whole, steps=STEPS + 1, resume=True, log=told.append))
    assert any("not read: more.tsv" in line for line in told)


@pytest.mark.parametrize("file", ["valid.jsonl", "train", "train/source", "tokenizer.json", "report.json"])
def test_prepared_text_that_is_damaged_is_a_user_s_error(
    uninterrupted: tuple[Path, Path], tmp_path: Path, file: str
) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    damaged = whole / "checkpoints" / "data" / file
    if damaged.is_dir():
        shutil.rmtree(damaged)
    else:
        damaged.unlink()
    with pytest.raises(UserError):
        list(train_translator([], whole, steps=STEPS + 1, resume=True))


@pytest.mark.parametrize("damage", ["cut", "removed", "of other pairs", "no lexicon"])
def test_damaged_ids_are_found_at_the_start_and_the_way_out_is_one(
    uninterrupted: tuple[Path, Path], tmp_path: Path, damage: str
) -> None:
    source, whole = uninterrupted[0], shutil.copytree(uninterrupted[1], tmp_path / "whole")
    data = whole / "checkpoints" / "data"
    if damage == "cut":
        os.truncate(data / "train" / "target", 40)
    elif damage == "removed":
        (data / "valid" / "source.ends").unlink()
    elif damage == "no lexicon":
        (data / "lexicon.safetensors").unlink()
    else:
        for name in ("source", "source.ends"):
            shutil.copy(data / "train" / name, data / "valid" / name)
    told: list[str] = []
    with pytest.raises(UserError) as caught:
        list(train_translator([], whole, steps=STEPS + 1, resume=True, log=told.append))
    assert told == []
    assert f"`--from {whole}`" in caught.value.hint
    assert list(train_translator([source], tmp_path / "other", steps=1, start_from=whole))


@pytest.mark.parametrize(("full_at", "then"), [(1, "starts over"), (2, "continues from step 5")])
def test_a_full_disk_says_how_the_begun_run_goes_on(
    pairs_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_at: int, then: str
) -> None:
    calls = iter(range(1, 99))

    def full(folder: Path, checkpoint: Checkpoint) -> Path:
        if next(calls) == full_at:
            raise write_error(folder / "checkpoints", OSError(errno.ENOSPC, "full"))
        return write_checkpoint(folder, checkpoint)

    monkeypatch.setattr(run_folder, "write_checkpoint", full)
    source, model = pairs_file(100), tmp_path / "model"
    with pytest.raises(UserError, match="the disk is full") as caught:
        list(train_translator([source], model, steps=50, settings=SMALL))
    assert caught.value.hint == f"Free some space; the same command with `--resume` {then}."
    monkeypatch.setattr(run_folder, "write_checkpoint", write_checkpoint)
    with pytest.raises(UserError) as refused:
        train_translator([source], model, steps=50, settings=SMALL)
    assert ("without a checkpoint" in refused.value.what) is (full_at == 1)
    run = train_translator([source], model, steps=50, settings=SMALL, resume=True)
    assert next(run).step == (1 if full_at == 1 else 6)
    run.close()  # type: ignore[attr-defined]


def test_a_full_disk_does_not_cost_the_model_that_would_be_replaced(
    pairs_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    list(train_translator([pairs_file(100)], model, steps=1, settings=SMALL))
    before = _everything(model)

    def full(*_: object) -> None:
        raise write_error(model / "ids", OSError(errno.ENOSPC, "full"))

    monkeypatch.setattr(prepare_pairs, "_write_ids", full)
    with pytest.raises(UserError, match="the disk is full") as caught:
        list(train_translator([pairs_file(100)], model, steps=1, settings=SMALL, overwrite=True))
    assert "run the same command again" in caught.value.hint
    assert _everything(model) == before


def test_damaged_weights_of_a_checkpoint_name_the_way_back(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    weights = whole / "checkpoints" / f"step-{STEPS:08d}" / "model.safetensors"
    weights.write_bytes(bytes(weights.stat().st_size))
    with pytest.raises(UserError) as caught:
        list(train_translator([], whole, steps=STEPS + 1, resume=True))
    assert f"Remove {weights.parent}" in caught.value.hint
    shutil.rmtree(weights.parent)
    assert list(train_translator([], whole, steps=STEPS, resume=True))


def test_a_longer_run_is_validated_by_its_new_length_and_remembers_it(
    pairs_file: Callable[..., Path], tmp_path: Path
) -> None:
    list(train_translator([pairs_file(100)], tmp_path / "model", steps=4, settings=SMALL))
    on = train_translator([], tmp_path / "model", steps=8, resume=True)
    assert next(on).step == 5
    on.close()  # type: ignore[attr-defined]
    more = list(train_translator([], tmp_path / "model", resume=True))
    assert [(step.step, step.validation is not None) for step in more] == [(6, False), (7, False), (8, True)]


def test_a_run_that_stopped_early_goes_on_if_more_is_asked(pairs_file: Callable[..., Path], tmp_path: Path) -> None:
    settings = {**SMALL, "training.learning_rate": 1e-12, "training.validations": 10, "training.patience": 1}
    settings["training.average_decay"] = "none"
    first = list(train_translator([pairs_file(100)], tmp_path / "model", steps=20, settings=settings))
    assert len(first) < 20
    told: list[str] = []
    assert list(train_translator([], tmp_path / "model", resume=True, log=told.append)) == []
    assert f"{len(first)} steps done, and the run stopped early" in told[0]
    more = list(train_translator([], tmp_path / "model", steps=40, resume=True))
    assert more[0].step == first[-1].step + 1


def test_a_run_of_minutes_that_is_finished_stays_finished(
    pairs_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a second a look at the clock; the validation half-way takes the rest of the four minutes."""
    looks = iter(range(10**9))
    monkeypatch.setattr(Clock, "_now", lambda self: next(looks) / 2)
    validate = run_folder.validate

    def slow(run: Run) -> Validation | None:
        for _ in range(260):
            next(looks)
        return validate(run)

    monkeypatch.setattr(loop, "validate", slow)
    settings = {**SMALL, "training.validations": 2, "training.checkpoint_steps": 1000}
    steps = list(train_translator([pairs_file(100)], tmp_path / "model", minutes=4, settings=settings))
    assert [step.validation is not None for step in steps] == [False] * (len(steps) - 1) + [True]
    assert list(train_translator([], tmp_path / "model", resume=True)) == []


def test_a_run_of_an_earlier_development_version_cannot_be_resumed_but_trained_further(
    uninterrupted: tuple[Path, Path], tmp_path: Path
) -> None:
    source, whole = uninterrupted[0], shutil.copytree(uninterrupted[1], tmp_path / "whole")
    config = json.loads((whole / "config.json").read_text(encoding="utf-8"))
    config["recipe"]["initialise"]["lexical"] = config["recipe"]["initialise"].pop("from_lexicon")
    (whole / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match=r"earlier development version; its setting initialise\.lexical") as caught:
        train_translator([], whole, steps=STEPS + 1, resume=True)
    assert f"`--from {whole}`" in caught.value.hint
    assert list(train_translator([source], tmp_path / "on", steps=1, start_from=whole))


@pytest.mark.parametrize("state", [{}, {"average_updates": 1, "what": 2}])
def test_a_checkpoint_whose_state_is_another_s_is_a_user_s_error(
    uninterrupted: tuple[Path, Path], tmp_path: Path, state: dict[str, object]
) -> None:
    whole = shutil.copytree(uninterrupted[1], tmp_path / "whole")
    path = whole / "checkpoints" / f"step-{STEPS:08d}" / "state.json"
    content = json.loads(path.read_text(encoding="utf-8")) | {"state": state}
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match="damaged, or belongs to another model"):
        list(train_translator([], whole, steps=STEPS + 1, resume=True))

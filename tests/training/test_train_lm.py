"""A text in, a language model out: what is left on disk, what is learnt, exact resume, instructions."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import pellucid
from pellucid import WordVectors
from pellucid.errors import UsageError, UserError
from pellucid.models.weights import load_decoder_only
from pellucid.storage.metrics import read_metrics
from pellucid.storage.tensors import read_tensors
from pellucid.training.pretrained_embeddings import match_pieces
from pellucid.training.state import Step
from pellucid.training.train_lm import train_lm

from .conftest import generated_pairs

ROOT = Path(__file__).parent.parent.parent
STEPS = 12

SMALL_LM: dict[str, object] = {
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.d_ff": 32,
    "model.n_layers": 1,
    "model.max_positions": 32,
    "model.dropout": 0.1,
    "tokenizer.vocab_size": 310,
    "training.batch_tokens": 128,
    "training.warmup_steps": 2,
    "training.log_steps": 2,
    "training.validations": 2,
    "training.sample_tokens": 4,
    "training.precision": "float32",
}

TextFile = Callable[..., Path]


@pytest.fixture(scope="module")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> TextFile:
    """Write `count` generated lines, all different, to a text file."""

    def write(count: int = 150, seed: int = 0) -> Path:
        path = tmp_path_factory.mktemp("text") / "lines.txt"
        lines = (f"{target}.\n" for _, target in generated_pairs(count, seed))
        path.write_text("".join(lines), encoding="utf-8")
        return path

    return write


def trained(source: Path, out: Path, **options: Any) -> list[Step]:
    settings = {**SMALL_LM, **options.pop("settings", {})}
    return list(train_lm([source], out, recipe="tiny", settings=settings, **options))


def content(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def uninterrupted(text_file: TextFile, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The text, and the folder of a finished run; tests only read it."""
    source, folder = text_file(), tmp_path_factory.mktemp("lm") / "whole"
    trained(source, folder, steps=STEPS)
    return source, folder


def test_a_run_leaves_a_whole_model_folder(uninterrupted: tuple[Path, Path]) -> None:
    folder = uninterrupted[1]
    config, report = content(folder / "config.json"), content(folder / "report.json")
    assert config["kind"] == "language-model"
    assert config["model"]["d_model"] == 16
    assert config["pad_id"] == 0
    assert report["data"]["documents"] == 150
    assert report["data"]["validation"]["documents"] == 30
    assert report["training"]["steps"] == STEPS
    lines = list(read_metrics(folder))
    assert [line["step"] for line in lines] == [2, 4, 6, 8, 10, 12]
    assert {"valid_loss", "valid_bits_per_byte", "valid_sample"} <= lines[-1].keys()
    assert "valid_bleu" not in lines[-1]
    assert list(lines[-1]["valid_sample"]) == ["prompt", "continuation"]
    assert {path.name for path in folder.iterdir()} >= {
        "model.safetensors", "tokenizer.json", "generation_config.json", "metrics.jsonl", "checkpoints",
    }  # fmt: skip


def test_bits_per_byte_are_the_loss_of_all_tokens_over_the_text_s_bytes(uninterrupted: tuple[Path, Path]) -> None:
    validation = content(uninterrupted[1] / "report.json")["data"]["validation"]
    line = list(read_metrics(uninterrupted[1]))[-1]
    bits = line["valid_loss"] * validation["predicted_tokens"] / 0.6931471805599453
    assert line["valid_bits_per_byte"] == pytest.approx(bits / validation["bytes"])


def test_the_model_loads_and_is_the_one_that_was_measured(uninterrupted: tuple[Path, Path]) -> None:
    folder = uninterrupted[1]
    model = load_decoder_only(content(folder / "config.json"), folder / "model.safetensors")
    with torch.inference_mode():
        assert model(torch.tensor([[1, 20, 30]])).isfinite().all()
    pellucid.load(folder)


def test_it_learns_the_generated_lines(text_file: TextFile, tmp_path: Path) -> None:
    settings = {"training.learning_rate": 2e-2, "model.dropout": 0.0, "training.schedule": "linear"}
    steps = trained(text_file(), tmp_path / "model", steps=60, settings=settings)
    assert steps[0].loss > 2 * steps[-1].loss


# Trains, prints each step's number, and kills itself at the n-th time that a file is forced to the disk.
PROGRAM = """
import os, signal, sys
from pellucid.training.train_lm import train_lm
source, out, steps, settings, resume, fatal = eval(sys.argv[1])
forced, calls = os.fsync, []
def fsync(handle):
    calls.append(handle)
    if len(calls) == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    forced(handle)
os.fsync = fsync
for step in train_lm([source], out, recipe="tiny", steps=steps, settings=settings, resume=resume):
    print(step.step, flush=True)
"""


def assert_same_run(one: Path, other: Path) -> None:
    for place in ("model.safetensors", f"checkpoints/step-{STEPS:08d}/model.safetensors"):
        first, second = read_tensors(one / place), read_tensors(other / place)
        assert first.keys() == second.keys()
        for name in first:
            assert first[name].equal(second[name]), name
    steps = [[(line["step"], line["loss"]) for line in read_metrics(folder)] for folder in (one, other)]
    assert steps[0] == steps[1]


@pytest.mark.parametrize("fatal", [6, 19])
def test_killed_while_a_file_is_written_it_ends_with_the_same_weights(
    uninterrupted: tuple[Path, Path], tmp_path: Path, fatal: int
) -> None:
    source, whole = uninterrupted
    for resume in (False, True):
        arguments = repr((str(source), str(tmp_path / "lm"), STEPS, SMALL_LM, resume, 0 if resume else fatal))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(torch.get_num_threads())}
        done = subprocess.run([sys.executable, "-c", PROGRAM, arguments], env=environment, stdout=subprocess.DEVNULL)
        assert done.returncode == (0 if resume else -signal.SIGKILL)
    assert_same_run(whole, tmp_path / "lm")


@pytest.mark.parametrize("at", [1, 5, 7])
def test_closed_at_any_step_it_goes_on_bit_for_bit(uninterrupted: tuple[Path, Path], tmp_path: Path, at: int) -> None:
    source, whole = uninterrupted
    run = train_lm([source], tmp_path / "lm", recipe="tiny", steps=STEPS, settings=SMALL_LM)
    for step in run:
        if step.step == at:
            break
    run.close()  # type: ignore[attr-defined]  # a generator
    list(train_lm([], tmp_path / "lm", steps=STEPS, resume=True))
    assert_same_run(whole, tmp_path / "lm")


def test_what_a_run_was_begun_with_cannot_change(uninterrupted: tuple[Path, Path]) -> None:
    for other in ({"model.max_positions": 64}, {"data.documents": "file"}, {"tokenizer.kind": "characters"}):
        with pytest.raises(UsageError, match=f"{next(iter(other))} is fixed"):
            train_lm([], uninterrupted[1], steps=STEPS + 2, settings={**SMALL_LM, **other}, resume=True)


def test_accumulation_is_one_batch(text_file: TextFile, tmp_path: Path) -> None:
    """The same loss and gradient in parts of one window each, to the rounding of float32 sums."""
    settings = {"model.dropout": 0.0, "training.batch_tokens": 256}
    source = text_file()
    whole = trained(source, tmp_path / "whole", steps=3, settings=settings)
    parts = trained(source, tmp_path / "parts", steps=3, settings={**settings, "training.micro_batch_tokens": 32})
    for one, other in zip(whole, parts, strict=True):
        assert other.loss == pytest.approx(one.loss, rel=1e-5)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-3)


def test_a_text_shorter_than_the_context_is_learnt(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("One line.\n", encoding="utf-8")
    told: list[str] = []
    steps = trained(source, tmp_path / "model", steps=3, log=told.append)
    assert len(steps) == 3
    assert any("none for validation: the text is too short" in line for line in told)
    assert content(tmp_path / "model" / "report.json")["training"]["validation_losses"] == {}


def test_instructions_are_learnt_by_their_completions_only(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    lines = [{"prompt": f"zh→en: {zh}\n", "completion": en} for zh, en in generated_pairs(120)]
    source.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    steps = trained(source, tmp_path / "model", steps=2, settings={"model.max_positions": 128})
    report = content(tmp_path / "model" / "report.json")["data"]
    assert report["with_prompt"] == 120
    assert steps[-1].validation is not None
    assert steps[-1].validation.sample is not None
    assert steps[-1].validation.sample["prompt"].startswith("zh→en: ")
    assert steps[-1].tokens < report["tokens"]


@pytest.mark.parametrize(("context", "told"), [(8, True), (256, False)])
def test_prompts_that_the_context_cuts_off_are_told(tmp_path: Path, context: int, told: bool) -> None:
    source = tmp_path / "a.jsonl"
    lines = [{"prompt": f"zh→en: {zh}\n", "completion": en} for zh, en in generated_pairs(60)]
    source.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    said: list[str] = []
    trained(source, tmp_path / "model", steps=1, settings={"model.max_positions": context}, log=said.append)
    assert told == any("is learnt without the prompt" in line for line in said)


def test_validation_text_can_be_given(text_file: TextFile, tmp_path: Path) -> None:
    valid = text_file(40, seed=5)
    steps = trained(text_file(), tmp_path / "model", steps=2, valid=[valid])
    assert steps[-1].validation is not None
    split = content(tmp_path / "model" / "report.json")["data"]["validation"]
    assert (split["how"], split["files"]) == ("given", [str(valid)])
    assert split["documents"] == 40


def test_a_ruinous_text_is_refused_with_its_line_and_the_mend(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes(b"fine\n\xff\n")
    with pytest.raises(UserError, match="training refused: not UTF-8") as caught:
        trained(source, tmp_path / "model", steps=2)
    assert caught.value.where == (f"{source}:2 encoding",)
    assert "--data.drop encoding" in caught.value.hint
    assert not (tmp_path / "model").exists()
    assert trained(source, tmp_path / "model", steps=1, settings={"data.drop": "encoding"})


@pytest.mark.parametrize(("warmup", "told_so"), [(3, True), (2, False)])
def test_a_run_that_ends_in_its_warm_up_says_so(
    text_file: TextFile, tmp_path: Path, warmup: int, told_so: bool
) -> None:
    told: list[str] = []
    settings = {"training.warmup_steps": warmup}
    trained(text_file(), tmp_path / "model", steps=2, settings=settings, log=told.append)
    said = "barely started to learn: the run ended at step 2 of a warm-up of 3 steps. Pass more --steps"
    assert any(said in line for line in told) is told_so


def test_training_goes_on_from_a_finished_model(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    source, whole = uninterrupted
    steps = list(train_lm([source], tmp_path / "on", recipe="tiny", steps=1, start_from=whole))
    assert len(steps) == 1
    for name in ("tokenizer.json",):
        assert (tmp_path / "on" / name).read_bytes() == (whole / name).read_bytes()
    assert content(tmp_path / "on" / "config.json")["model"] == content(whole / "config.json")["model"]


def test_an_imported_model_is_not_trained_on(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(uninterrupted[1], tmp_path / "imported")
    config = content(folder / "config.json") | {"tokenizer": {"start_id": None, "end_ids": [0], "adds_start": False}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match="imported"):
        train_lm([uninterrupted[0]], tmp_path / "on", recipe="tiny", steps=1, start_from=folder)


# In a process of its own: there the shapes in signatures are not checked, which nothing that is compiled survives.
COMPILED = """
import json, sys
from torch._dynamo.utils import counters
from pellucid.training.train_lm import train_lm
source, out, settings = json.loads(sys.argv[1])
losses = []
for compiled in (False, True):
    given = settings | {"training.compile": compiled}
    run = train_lm([source], f"{out}/{compiled}", recipe="tiny", steps=2, settings=given)
    losses.append([step.loss for step in run])
    assert (counters["stats"]["unique_graphs"] > 1) is compiled
print(json.dumps(losses))
"""


def test_two_compiled_steps_are_those_of_the_uncompiled_model(text_file: TextFile, tmp_path: Path) -> None:
    settings = {**SMALL_LM, "model.dropout": 0.0, "training.average_decay": None, "training.validations": 0}
    arguments = json.dumps([str(text_file()), str(tmp_path), settings])
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, arguments], env=environment, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    plain, compiled = json.loads(done.stdout)
    assert compiled == pytest.approx(plain, rel=1e-5)  # float32 sums, fused in another order


def test_what_is_left_open_is_chosen_by_the_text(text_file: TextFile, tmp_path: Path) -> None:
    told: list[str] = []
    settings = {name: value for name, value in SMALL_LM.items() if name != "model.max_positions"}
    settings["training.adapt"] = True
    list(train_lm([text_file()], tmp_path / "model", recipe="tiny", steps=1, settings=settings, log=told.append))
    assert content(tmp_path / "model" / "config.json")["model"]["max_positions"] == 64
    assert any("max_positions 64" in line for line in told)


def test_a_run_whose_context_was_chosen_by_the_text_resumes_bit_for_bit(tmp_path: Path) -> None:
    source = tmp_path / "short.txt"
    source.write_text("".join(f"cat {number}.\n" for number in range(300)), encoding="utf-8")
    settings = {name: value for name, value in SMALL_LM.items() if name != "model.max_positions"}
    settings["training.adapt"] = True
    for name in ("whole", "stopped"):
        run = train_lm([source], tmp_path / name, recipe="tiny", steps=STEPS, settings=settings)
        for step in run:
            if name == "stopped" and step.step == 5:
                run.close()  # type: ignore[attr-defined]  # a generator: closing it writes a checkpoint
    list(train_lm([], tmp_path / "stopped", steps=STEPS, resume=True))
    assert content(tmp_path / "whole" / "config.json")["model"]["max_positions"] == 32  # half of the recipe's
    weights = [read_tensors(tmp_path / name / "model.safetensors") for name in ("whole", "stopped")]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weight, weights[1][name]) for name, weight in weights[0].items())


@pytest.mark.parametrize("frozen", [False, True])
def test_rows_start_from_word_vectors_and_stay_if_they_are_frozen(
    text_file: TextFile, tmp_path: Path, frozen: bool
) -> None:
    source = text_file()
    words = sorted(set(source.read_text(encoding="utf-8").replace(".", "").split()))
    vectors = WordVectors(words, numpy.random.default_rng(1).normal(size=(len(words), 16)))
    vectors.save(tmp_path / "words")
    settings = {"model.embeddings": str(tmp_path / "words"), "model.freeze_embeddings": frozen}
    told: list[str] = []
    settings |= {"training.average_decay": "none", "tokenizer.vocab_size": 400}
    trained(source, tmp_path / "model", steps=4, settings=settings, log=told.append)
    assert any(line.startswith("Embeddings (text): ") for line in told)
    model = pellucid.load(tmp_path / "model")
    ids, rows = match_pieces(model.tokenizer, vectors)
    assert len(ids) > 5
    wanted = vectors.input_vectors[rows]
    scaled = wanted / numpy.sqrt((wanted**2).sum(axis=1).mean())
    moved = numpy.abs(model.model.embedding.weight.detach().numpy()[ids] - scaled).max()
    assert moved < 1e-6 if frozen else moved > 1e-4


def test_what_is_odd_about_the_vectors_is_told_or_refused(text_file: TextFile, tmp_path: Path) -> None:
    row = " ".join(["1.5"] * 16)
    (tmp_path / "v.txt").write_text(f"the {row}\nthe {row}\na {row}\n", encoding="utf-8")
    told: list[str] = []
    settings = {"model.embeddings": str(tmp_path / "v.txt")}
    trained(text_file(), tmp_path / "model", steps=1, settings=settings, log=told.append)
    assert any("word vectors: the word 'the' is repeated, first in line 1" in line for line in told)
    with pytest.raises(UsageError, match="freeze_embeddings keeps rows that started from word vectors"):
        trained(text_file(), tmp_path / "m", steps=1, settings={"model.freeze_embeddings": True})


def test_a_model_of_absurd_size_is_refused_before_the_text_is_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"its [\d,]+ parameters need [\d,.]+ GB") as caught:
        trained(tmp_path / "none.txt", tmp_path / "model", steps=1, settings={"model.n_layers": 10**9})
    assert "model.n_layers 1,000,000,000" in caught.value.where[0]


def test_a_translator_is_no_language_model(tmp_path: Path, uninterrupted: tuple[Path, Path]) -> None:
    with pytest.raises(UserError, match=r"expected a translator, but .* holds a language model"):
        pellucid.train_translator(["a.tsv"], tmp_path / "t", steps=1, start_from=uninterrupted[1])

import json
import math
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import pellucid
from pellucid.errors import UsageError, UserError
from pellucid.evaluation.translation_metrics import CorpusScores, score_translations
from pellucid.storage.tensors import read_tensors
from pellucid.training import loop, memory_fit, prepare_pairs, translation_task
from pellucid.training.clock import Clock
from pellucid.training.state import Step
from pellucid.training.train_translator import train_translator
from pellucid.training.translation_task import TranslationTask

from .conftest import SMALL, generated_pairs

PairsFile = Callable[..., Path]


def _train(source: Path, out: Path, **options: Any) -> list[Step]:
    settings = {**SMALL, **options.pop("settings", {})}
    return list(train_translator([source], out, settings=settings, **options))


def test_a_run_leaves_a_whole_model_folder(pairs_file: PairsFile, tmp_path: Path) -> None:
    told: list[str] = []
    steps = _train(pairs_file(), tmp_path / "model", steps=12, target_lang="en", log=told.append)
    assert [step.step for step in steps] == list(range(1, 13))
    assert steps[-1].progress == 1.0
    assert [step.step for step in steps if step.validation] == [6, 12]
    config = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert config["kind"] == "translator"
    assert config["target_language"] == "en"
    assert config["model"]["d_model"] == 32
    report = json.loads((tmp_path / "model" / "report.json").read_text(encoding="utf-8"))
    assert report["data"]["pairs"] == 400
    assert report["data"]["validation"]["pairs"] == 80
    assert report["training"]["steps"] == 12
    losses = report["training"]["validation_losses"]
    assert losses[report["training"]["weights"]] == min(losses.values())
    assert any("400 pairs" in line for line in told)
    assert {path.name for path in (tmp_path / "model").iterdir()} >= {
        "model.safetensors", "tokenizer.json", "generation_config.json", "metrics.jsonl", "checkpoints",
    }  # fmt: skip


def test_metrics_have_a_line_a_logged_step(pairs_file: PairsFile, tmp_path: Path) -> None:
    steps = _train(pairs_file(), tmp_path / "model", steps=6)
    lines = [json.loads(line) for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [2, 3, 4, 6]
    needed = {"step", "loss", "learning_rate", "gradient_norm", "tokens", "seconds", "tokens_per_second"}
    assert all(needed <= line.keys() for line in lines)
    assert {"valid_loss", "valid_bleu", "valid_chrf"} <= lines[1].keys()
    assert lines[0]["loss"] == pytest.approx((steps[0].loss + steps[1].loss) / 2)
    assert lines[-1]["tokens"] == steps[-1].tokens


def test_training_learns_the_generated_language(pairs_file: PairsFile, tmp_path: Path) -> None:
    steps = _train(pairs_file(600), tmp_path / "model", steps=150, settings={"training.learning_rate": 5e-3})
    assert steps[0].loss > 3 * steps[-1].loss
    assert steps[-1].validation is not None
    assert steps[-1].validation.loss < 1.0


def test_without_guidance_and_lexicon_no_aligner_runs(pairs_file: PairsFile, tmp_path: Path) -> None:
    settings = {"initialise.from_lexicon": False, "training.guided_weight": 0, "model.cross_positions": "none"}
    steps = _train(pairs_file(), tmp_path / "model", steps=3, settings=settings)
    assert all(step.guided_loss == 0 for step in steps)
    assert not (tmp_path / "model" / "checkpoints" / "data" / "lexicon.safetensors").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer.joint": False, "model.tie_embeddings": "output"},
        {"tokenizer.joint": False, "model.tie_embeddings": "none"},
        {"tokenizer.kind": "characters"},
        {"tokenizer.kind": "words", "training.label_smoothing": 0.1},
        {"tokenizer.dropout": 0.2},
        {"training.precision": "bfloat16", "training.average_decay": "none"},
        {"model.positions": "alibi", "model.norm": "rmsnorm", "model.activation": "swiglu", "model.n_kv_heads": 1},
    ],
)
def test_options_train(pairs_file: PairsFile, tmp_path: Path, settings: dict[str, Any]) -> None:
    steps = _train(pairs_file(200), tmp_path / "model", steps=4, settings=settings)
    assert all(math.isfinite(step.loss) for step in steps)


def test_accumulation_equals_one_batch(pairs_file: PairsFile, tmp_path: Path) -> None:
    still = {"model.dropout": 0.0}
    whole = _train(pairs_file(), tmp_path / "whole", steps=5, settings=still)
    parts = _train(pairs_file(), tmp_path / "parts", steps=5, settings={**still, "training.micro_batch_tokens": 30})
    for one, other in zip(whole, parts, strict=True):
        # float32 sums over the batch in another order
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-3)
        assert one.tokens == other.tokens


def test_a_loss_that_is_not_finite_stops_and_leaves_the_last_checkpoint(
    pairs_file: PairsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = iter([1e-3] * 4 + [float("inf")] * 9)
    monkeypatch.setattr(loop, "learning_rate", lambda *_: next(rates))
    with pytest.raises(UserError) as caught:
        _train(pairs_file(), tmp_path / "model", steps=20, settings={"training.checkpoint_steps": 4})
    assert "step 6" in caught.value.what
    assert "learning_rate" in caught.value.hint
    checkpoints = sorted(path.name for path in (tmp_path / "model" / "checkpoints").glob("step-*"))
    assert checkpoints == ["step-00000002", "step-00000004"]
    weights = read_tensors(tmp_path / "model" / "checkpoints" / checkpoints[-1] / "model.safetensors")
    assert all(weight.isfinite().all() for weight in weights.values())


@pytest.mark.parametrize(
    ("every", "expected"), [(1000, range(2, 21, 2)), (None, range(2, 21, 2)), (3, [2, 3, 4, 6, 8, 9, 10, 12, 14, 15])]
)
def test_a_checkpoint_is_written_every_tenth_of_the_run_however_rare_they_are_asked_for(
    pairs_file: PairsFile, tmp_path: Path, every: int | None, expected: Sequence[int]
) -> None:
    settings = {"training.checkpoint_steps": every, "training.validations": 0}
    steps = _train(pairs_file(100), tmp_path / "model", steps=20, settings=settings)
    written = [step.step for step in steps if step.checkpoint]
    assert written[: len(expected)] == list(expected)


def test_a_checkpoint_is_written_every_ten_minutes_however_rare_they_are_asked_for(
    pairs_file: PairsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(10**9))
    monkeypatch.setattr(Clock, "_now", lambda self: 100.0 * next(ticks))  # a look at the clock every 100 seconds
    settings = {"training.checkpoint_steps": 1000, "training.validations": 0}
    run = train_translator([pairs_file(100)], tmp_path / "model", steps=1000, settings=SMALL | settings)
    first = next(step for step in run if step.checkpoint)
    run.close()  # type: ignore[attr-defined]
    assert first.step < 10


@pytest.mark.parametrize("validations", [0, 10])
def test_an_update_out_of_the_finite_numbers_is_neither_measured_nor_kept(
    pairs_file: PairsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, validations: int
) -> None:
    rates = iter([1e-3] * 3 + [float("inf")] * 9)
    monkeypatch.setattr(loop, "learning_rate", lambda *_: next(rates))
    settings = {"training.checkpoint_steps": 2, "training.validations": validations, "training.log_steps": 50}
    with pytest.raises(UserError, match="NaN or infinity at step 4"):
        _train(pairs_file(), tmp_path / "model", steps=20, settings=settings)
    assert [path.name for path in (tmp_path / "model" / "checkpoints").glob("step-*")] == ["step-00000002"]
    weights = read_tensors(tmp_path / "model" / "model.safetensors")
    assert all(weight.isfinite().all() for weight in weights.values())


def test_a_validation_loss_that_is_not_finite_is_an_error(
    pairs_file: PairsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TranslationTask, "validation_loss", lambda *_: math.nan)
    with pytest.raises(UserError, match=r"NaN or infinity at step 2 \(validation loss nan\)"):
        _train(pairs_file(), tmp_path / "model", steps=4)


def test_minutes_that_are_over_before_the_first_step_are_an_error(pairs_file: PairsFile, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="before the first step"):
        _train(pairs_file(), tmp_path / "model", minutes=1e-9)


def test_early_stopping_after_patience(pairs_file: PairsFile, tmp_path: Path) -> None:
    settings = {"training.learning_rate": 1e-12, "training.validations": 10, "training.patience": 2}
    steps = _train(pairs_file(), tmp_path / "model", steps=40, settings={**settings, "training.average_decay": "none"})
    assert len(steps) < 40
    report = json.loads((tmp_path / "model" / "report.json").read_text(encoding="utf-8"))
    assert report["training"]["stopped_early"]


@pytest.mark.parametrize(
    "setting",
    [
        {"model.d_model": 10**6},
        {"model.d_ff": 10**12},
        {"model.encoder_layers": 10**9},
        {"model.positions": "learned", "model.learned_positions": 10**12},
        {"tokenizer.vocab_size": 10**9},
    ],
)
def test_a_model_of_absurd_size_is_refused_before_the_text_is_read(tmp_path: Path, setting: dict[str, object]) -> None:
    with pytest.raises(UserError, match=r"its [\d,]+ parameters need [\d,.]+ GB, but only [\d,.]+ GB are free"):
        train_translator([tmp_path / "none.tsv"], tmp_path / "model", steps=1, settings={**SMALL, **setting})
    assert not (tmp_path / "model").exists()


def test_what_the_vocabulary_adds_is_refused_before_it_is_built(
    pairs_file: PairsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its vocabulary the small model has 25,728 parameters, with it over 30,000; each needs 6 times 4 bytes."""
    monkeypatch.setattr(memory_fit, "free_bytes", lambda device: 24.0 * 30_000)
    run = train_translator([pairs_file()], tmp_path / "model", steps=1, settings=SMALL)
    with pytest.raises(UserError, match="too large to train here") as caught:
        next(run)
    assert "model.d_model 32" in caught.value.where[0]
    assert re.search(r", vocabulary \d+$", caught.value.where[0])


def test_a_folder_that_holds_a_model_is_refused(pairs_file: PairsFile, tmp_path: Path) -> None:
    source = pairs_file()
    _train(source, tmp_path / "model", steps=2)
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    with pytest.raises(UserError, match="already holds a model"):
        train_translator([source], tmp_path / "model", steps=2)
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before
    _train(source, tmp_path / "model", steps=2, overwrite=True)


def test_text_that_would_ruin_the_model_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.es").write_text("uno\ndos\ntres\ncuatro\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("one\ntwo\n", encoding="utf-8")
    run = train_translator([tmp_path / "a.es", tmp_path / "a.en"], tmp_path / "model", steps=2, settings=SMALL)
    with pytest.raises(UserError) as caught:
        next(run)
    assert "doctor" in caught.value.hint
    assert not (tmp_path / "model" / "config.json").exists()


def test_a_refused_text_does_not_cost_the_model_it_would_have_replaced(pairs_file: PairsFile, tmp_path: Path) -> None:
    _train(pairs_file(), tmp_path / "model", steps=2)
    before = {path: path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file()}
    (tmp_path / "bad.tsv").write_bytes(b"\xff\xfe\tone\n" * 3)
    with pytest.raises(UserError):
        _train(tmp_path / "bad.tsv", tmp_path / "model", steps=2, overwrite=True)
    assert {path: path.read_bytes() for path in (tmp_path / "model").rglob("*") if path.is_file()} == before


def test_a_text_without_a_short_pair_does_not_cost_the_model_either(pairs_file: PairsFile, tmp_path: Path) -> None:
    _train(pairs_file(), tmp_path / "model", steps=2)
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    with pytest.raises(UserError, match="no pair is left"):
        _train(pairs_file(), tmp_path / "model", steps=2, overwrite=True, settings={"training.max_tokens": 2})
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before


def test_a_model_cannot_be_trained_on_into_its_own_folder(pairs_file: PairsFile, tmp_path: Path) -> None:
    model = tmp_path / "model"
    _train(pairs_file(), model, steps=2)
    before = (model / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match="same folder"):
        train_translator([pairs_file()], model, steps=2, settings=SMALL, start_from=model, overwrite=True)
    assert (model / "model.safetensors").read_bytes() == before


def test_training_on_refuses_other_sizes_and_takes_another_dropout(pairs_file: PairsFile, tmp_path: Path) -> None:
    _train(pairs_file(), tmp_path / "first", steps=2)
    for other in ({"model.d_model": 64}, {"tokenizer.kind": "words"}):
        with pytest.raises(UsageError, match=f"{next(iter(other))} is fixed"):
            train_translator(
                [pairs_file()], tmp_path / "on", steps=2, settings=SMALL | other, start_from=tmp_path / "first"
            )
    _train(pairs_file(), tmp_path / "on", steps=2, settings={"model.dropout": 0.3}, start_from=tmp_path / "first")
    config = json.loads((tmp_path / "on" / "config.json").read_text(encoding="utf-8"))
    assert config["model"]["dropout"] == 0.3


def test_training_goes_on_from_finished_weights_with_other_text(pairs_file: PairsFile, tmp_path: Path) -> None:
    _train(pairs_file(600), tmp_path / "first", steps=100, settings={"training.learning_rate": 5e-3})
    other = pairs_file(300, name="other.tsv", seed=9)
    anew = _train(other, tmp_path / "anew", steps=2)
    on = _train(other, tmp_path / "on", steps=2, start_from=tmp_path / "first")
    assert on[0].loss < anew[0].loss / 2
    first, second = ((tmp_path / name / "tokenizer.json").read_bytes() for name in ("first", "on"))
    assert first == second


def test_given_validation_pairs_are_used_and_leave_training(pairs_file: PairsFile, tmp_path: Path) -> None:
    source, valid = pairs_file(300), pairs_file(50, name="valid.tsv", seed=5)
    _train(source, tmp_path / "model", steps=2, valid=[valid])
    report = json.loads((tmp_path / "model" / "report.json").read_text(encoding="utf-8"))
    assert report["data"]["validation"]["pairs"] == 50
    assert report["data"]["counts"]["leak"] > 0


def test_validation_pairs_longer_than_learned_positions_are_left_out_and_said(
    pairs_file: PairsFile, tmp_path: Path
) -> None:
    valid = pairs_file(20, name="valid.tsv", seed=5)
    long = "和".join(["一只红猫"] * 100) + "\t" + " and ".join(["one red cat"] * 100) + "\n"
    valid.write_text(long + valid.read_text(encoding="utf-8"), encoding="utf-8")
    settings = {"model.positions": "learned", "model.learned_positions": 60, "training.max_tokens": 60}
    told: list[str] = []
    steps = _train(pairs_file(), tmp_path / "model", steps=2, valid=[valid], settings=settings, log=told.append)
    assert steps[-1].validation is not None
    assert "1 validation pair dropped: longer than model.learned_positions 60" in told
    report = json.loads((tmp_path / "model" / "report.json").read_text(encoding="utf-8"))
    assert report["data"]["validation"]["pairs"] == 20
    valid.write_text(long, encoding="utf-8")
    with pytest.raises(UserError, match="no validation pair is left"):
        _train(pairs_file(), tmp_path / "other", steps=2, valid=[valid], settings=settings)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"model.positions": "learned", "model.learned_positions": 60, "training.max_tokens": 60}, {}),
        ({"model.decoder_layers": 1}, {"training.guided_layer": 1, "training.guided_weight": 1.0}),
    ],
)
def test_a_recipe_that_does_not_fit_the_model_to_train_on_is_refused(
    pairs_file: PairsFile, tmp_path: Path, first: dict[str, object], then: dict[str, object]
) -> None:
    _train(pairs_file(), tmp_path / "first", steps=1, settings=first)
    with pytest.raises(UsageError, match=r"max_tokens 256|guided_layer 1") as caught:
        train_translator([pairs_file()], tmp_path / "on", steps=1, settings=then, start_from=tmp_path / "first")
    assert caught.value.where == (f"--from {tmp_path / 'first'}",)


def test_the_same_seed_gives_the_same_weights(pairs_file: PairsFile, tmp_path: Path) -> None:
    weights = []
    for name in ("one", "two"):
        _train(pairs_file(), tmp_path / name, steps=4)
        weights.append(read_tensors(tmp_path / name / "model.safetensors"))
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_placeholders_are_copied_by_ids_only_where_there_are_enough_to_learn_from(tmp_path: Path) -> None:
    for name, held in (("few", 5), ("many", 150)):
        pairs = generated_pairs(300)
        lines = [
            f"{source}{{{{n{i}}}}}\t{target} {{{{n{i}}}}}\n" if i < held else f"{source}\t{target}\n"
            for i, (source, target) in enumerate(pairs)
        ]
        (tmp_path / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
        _train(tmp_path / f"{name}.tsv", tmp_path / name, steps=1)
        config = json.loads((tmp_path / name / "config.json").read_text(encoding="utf-8"))
        assert config["placeholders"] is (name == "many")
        report = json.loads((tmp_path / name / "report.json").read_text(encoding="utf-8"))
        assert 0 < report["data"]["with_placeholders"] <= held


@pytest.mark.parametrize("held", [5, 150])
def test_validation_translates_as_the_finished_model_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """With few placeholders they are put in by the alignment, with many the model copies them."""
    measured: list[tuple[list[str], list[str]]] = []

    def noted(translations: list[str], references: list[str], target_lang: str | None) -> CorpusScores:
        measured.append((list(translations), list(references)))
        return score_translations(translations, references, target_lang)

    monkeypatch.setattr(translation_task, "score_translations", noted)
    lines = [
        f"{source}{{{{n{i}}}}}\t{target} {{{{n{i}}}}}\n" if i % 300 < held else f"{source}\t{target}\n"
        for i, (source, target) in enumerate(generated_pairs(330))
    ]
    (tmp_path / "train.tsv").write_text("".join(lines[:300]), encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("".join(lines[300:]), encoding="utf-8")
    settings = {
        "training.average_decay": "none",
        "training.validations": 1,
        "training.validation_sentences": 30,
        "generation.max_length_ratio": 0.5,  # below that of the references, which limits validation
        "generation.max_length_extra": 4,
    }
    _train(tmp_path / "train.tsv", tmp_path / "model", steps=2, valid=[tmp_path / "valid.tsv"], settings=settings)
    [(translations, references)] = measured
    sources = [line.split("\t")[0] for line in lines[300:]]
    expected = pellucid.load(tmp_path / "model").translate(sources, beam=1)
    assert translations == [found.text for found in expected]
    for translation, reference in zip(translations, references, strict=True):
        assert re.findall("{{.*?}}", translation) == re.findall("{{.*?}}", reference)


def test_lines_longer_than_the_text_s_own_are_split(pairs_file: PairsFile, tmp_path: Path) -> None:
    _train(pairs_file(), tmp_path / "model", steps=1)
    config = json.loads((tmp_path / "model" / "generation_config.json").read_text(encoding="utf-8"))
    assert config["split_above"] == 40


@pytest.mark.parametrize("value", ["90", 200])
def test_a_length_to_split_at_that_is_given_is_kept(pairs_file: PairsFile, tmp_path: Path, value: object) -> None:
    settings = {"generation.split_above": value}
    _train(pairs_file(100), tmp_path / "model", steps=1, settings=settings)
    assert pellucid.load(tmp_path / "model").config.split_above == int(str(value))
    # A run that was stopped before its first checkpoint starts over, and still knows what was given.
    shutil.rmtree(tmp_path / "model" / "checkpoints")
    list(train_translator([pairs_file(100)], tmp_path / "model", resume=True))
    assert pellucid.load(tmp_path / "model").config.split_above == int(str(value))


def test_before_the_first_update_of_the_average_the_weights_themselves_are_measured_and_kept(
    pairs_file: PairsFile, tmp_path: Path
) -> None:
    _train(pairs_file(), tmp_path / "short", steps=2, settings={"training.average_every": 3})
    report = json.loads((tmp_path / "short" / "report.json").read_text(encoding="utf-8"))
    assert "averaged" not in report["training"]["validation_losses"]
    kept = read_tensors(tmp_path / "short" / "model.safetensors")
    trained = read_tensors(tmp_path / "short" / "checkpoints" / "step-00000002" / "model.safetensors")
    assert all(kept[name].equal(trained[name]) for name in kept)


def test_a_recipe_that_says_no_length_needs_one(pairs_file: PairsFile, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text("[training]\nbatch_tokens = 100\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no training length given"):
        train_translator([pairs_file()], tmp_path / "model", recipe=recipe)


def test_what_a_recipe_file_gives_is_not_adapted(pairs_file: PairsFile, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text("[model]\nd_model = 32\nn_heads = 2\nd_ff = 64\n[training]\nadapt = true\n", encoding="utf-8")
    list(train_translator([pairs_file()], tmp_path / "model", recipe=recipe, steps=1))
    config = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert config["model"]["d_model"] == 32
    assert config["recipe"]["training"]["adapt"] is False


def test_tokens_are_counted_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare_pairs, "COUNT_CHUNK", 3)
    assert prepare_pairs.count_ids(numpy.array([1, 1, 4, 0, 1, 4, 2], numpy.int32), 6).tolist() == [1, 3, 1, 0, 2, 0]

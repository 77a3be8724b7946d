"""Two files in, a translator out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch

from pellucid.errors import UsageError, UserError
from pellucid.generation.config import LONGEST_SPLIT, SHORTEST_SPLIT
from pellucid.layers.taps import Tap
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.initialise import draw_weights, pass_through_cross_attention, tell_lexicon
from pellucid.models.model_files import build_translator_model, save_weights
from pellucid.storage.checkpoints import all_checkpoints, latest_checkpoint, read_checkpoint, step_of
from pellucid.storage.model_folder import (
    check_output,
    holds_model,
    prepare_output,
    read_config,
    read_json,
    write_config,
    write_json,
)
from pellucid.training.adapt import adapt, expected_tokens
from pellucid.training.chosen_recipe import DEFAULT, as_begun, begun_with, recipe_from_model, recipe_of_run
from pellucid.training.clock import Clock
from pellucid.training.compiling import check_compiler
from pellucid.training.loop import Run, train
from pellucid.training.memory_fit import check_fits, fit_micro_batch
from pellucid.training.optimizer import WeightAverage, adamw
from pellucid.training.precision import training_dtype
from pellucid.training.prepare import (
    Prepared,
    prepare,
    read_prepared,
    read_tokenizers,
    token_counts,
    write_tokenizers,
)
from pellucid.training.pretrained_embeddings import check_vectors, freeze_rows, read_matched, start_embeddings
from pellucid.training.recipe import TranslatorRecipe, load_recipe, settings_of_file
from pellucid.training.run_folder import (
    AVERAGED,
    RunFolder,
    explained_full_disk,
    is_finished,
    nothing_left,
    restore,
    validation_loss,
    weights_in_place,
)
from pellucid.training.state import Step

__all__ = ["train_translator"]

Talk = Callable[[str], None]

DATA = Path("checkpoints", "data")  # in the model's folder: what was prepared
STAGED = ".prepared"  # the same, before it takes the place of what stands there

# Pairs that hold placeholders from which a model learns to copy them; with fewer they are put in later.
ENOUGH_PLACEHOLDERS = 100


def train_translator(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    recipe: str | Path | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    settings: Mapping[str, object] | None = None,
    valid: Sequence[str | Path] = (),
    source_lang: str | None = None,
    target_lang: str | None = None,
    start_from: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    device: str = "auto",
    talk: Talk = lambda text: None,
) -> Iterator[Step]:
    """Train a translator; return a generator of its steps. The model is in `out` when it ends.

    Closing the generator early writes a checkpoint, from which `resume=True` goes on. What can be checked without
    reading the text is checked before this returns.

    Args:
        sources: a TSV, TMX or JSONL file, or two aligned text files, or several of them.
        out: folder of the model.
        recipe: a name or a TOML file; `fast` if not given, or that of the run which goes on.
        minutes, steps: length of the run; the recipe's if neither is given.
        settings: values by `section.field`, instead of the recipe's; they hold against `minutes` and `steps` too.
        valid: files with validation pairs; some are held out if none are given.
        source_lang, target_lang: language codes, recorded in the model.
        start_from: folder of a finished translator to train on; its tokenizers and sizes are kept.
        resume: go on with the run in `out`.
        overwrite: replace the model in `out`.
        device: `auto`, `cpu`, `cuda` …
        talk: told what is going on.

    Raises:
        UserError: for bad settings, unreadable or ruinous text, a folder that is not free, a full disk, non-finite
            loss.
    """
    length: dict[str, object] = {"training.minutes": minutes, "training.steps": steps}
    given = {**(length if minutes is not None or steps is not None else {}), **(settings or {})}
    folder = Path(out)
    check_output(folder, resume, overwrite)
    begun = begun_with(folder, recipe, start_from) if resume else as_begun(recipe, start_from)
    recipe, model = recipe or DEFAULT, Path(begun["from"]) if "from" in begun else None
    chosen = recipe_of_run(folder, recipe, given) if resume else load_recipe(recipe, given)
    if model is not None and not (resume and latest_checkpoint(folder)):
        chosen = recipe_from_model(model, folder, chosen, given)
    if chosen.model.embeddings is not None and not (resume and latest_checkpoint(folder)):
        check_vectors(chosen.model.embeddings, chosen.model.d_model)
    if chosen.training.steps is None and chosen.training.minutes is None:
        raise UsageError("nothing says how long to train", hint="Give --minutes or --steps.")
    place = _device(device)
    vocab_size = chosen.tokenizer.vocab_size or 0
    check_fits(chosen.model, (vocab_size, vocab_size), chosen.training.average_decay is not None, place)
    if chosen.training.compile:
        check_compiler(place)
    run = _Request(
        sources=tuple(sources),
        folder=folder,
        recipe=chosen,
        given=given.keys() | (frozenset() if resume and holds_model(folder) else settings_of_file(recipe)),
        valid=tuple(valid),
        languages=(source_lang, target_lang),
        start_from=model,
        begun=begun,
        resume=resume,
        overwrite=overwrite,
        device=place,
        talk=talk,
    )
    return _train(run)


@dataclass(frozen=True)
class _Request:
    """What was asked for, checked as far as it can be without reading the text."""

    sources: tuple[str | Path, ...]
    folder: Path
    recipe: TranslatorRecipe
    given: AbstractSet[str]
    valid: tuple[str | Path, ...]
    languages: tuple[str | None, str | None]
    start_from: Path | None
    begun: Mapping[str, Any]
    resume: bool
    overwrite: bool
    device: torch.device
    talk: Talk


def _train(asked: _Request) -> Iterator[Step]:
    """Prepare or go on, train, choose the best weights, report."""
    folder, recipe = asked.folder, asked.recipe
    torch.manual_seed(recipe.training.seed)
    clock = Clock(recipe.training.clock)
    checkpoint = latest_checkpoint(folder) if asked.resume else None
    if checkpoint is None:
        _prepare_beside(asked)
    with explained_full_disk(folder, asked.overwrite):
        if checkpoint is None:
            recipe, prepared = _begin(asked, clock)
        else:
            prepare_output(folder, resume=True, overwrite=False)
            prepared = read_prepared(folder / DATA, recipe)
        model = _model(recipe, prepared, asked.device)
        if checkpoint is None and asked.start_from:
            _take_weights(model, asked.start_from)
        elif checkpoint is None:
            _first_weights(model, recipe, prepared)
            _start_from_vectors(model, recipe, prepared, asked)
        observer = RunFolder(folder, prepared, prepared.report["languages"][1])
        run = _new_run(recipe, prepared, model.to(asked.device), observer, clock)
        if checkpoint is not None:
            _check_same_text(asked, prepared.report)
            restore(run, checkpoint, folder)
            asked.talk(nothing_left(run) if run.is_over() else f"Going on from step {run.state.step:,}")
            if run.is_over() and is_finished(run, folder):
                return
        if recipe.model.freeze_embeddings and recipe.model.embeddings is not None:
            freeze_rows(run.model, run.optimizer, read_matched(folder / DATA))
        _fit_memory(run, folder, recipe)
        yield from train(run)
        if not run.state.step:
            raise UserError(
                f"the time was over before the first step: preparing the text took {clock.seconds():.0f} s",
                where=f"training.minutes {recipe.training.minutes}",
                hint="give more --minutes, or a number of --steps; the same command with --resume and more starts over",
            )
        _finish(run, prepared, folder, asked.talk)


def _check_same_text(asked: _Request, report: Mapping[str, Any]) -> None:
    """Say which files a run that goes on does not read; refuse other languages than it has recorded."""
    other = [str(source) for source in asked.sources if str(source) not in report["files"]]
    other += [str(file) for file in asked.valid if str(file) not in report["validation"].get("files", ())]
    if other:
        asked.talk(f"The run goes on with the text it began with; not read: {', '.join(other)}")
    for side, given, recorded in zip(("source", "target"), asked.languages, report["languages"], strict=True):
        if given is not None and given != recorded:
            raise UsageError(
                f"the {side} language stays {recorded or 'unknown'}, got {given}",
                where=f"--{side}-lang {given}",
                hint="It was recorded when the run began: leave it out, or start anew with --overwrite.",
            )


def _prepare_beside(asked: _Request) -> None:
    """Prepare the text beside what stands in the folder: if it is refused, the model it would replace stays."""
    if asked.resume:
        asked.talk(f"{asked.folder} has no checkpoint: starting over")
    kept = read_tokenizers(asked.start_from) if asked.start_from else None
    prepare(
        asked.sources,
        asked.folder / STAGED,
        asked.recipe,
        valid=asked.valid,
        languages=asked.languages,
        tokenizers=kept,
        talk=asked.talk,
    )


def _begin(asked: _Request, clock: Clock) -> tuple[TranslatorRecipe, Prepared]:
    """Put what was prepared in its place, choose what the recipe leaves open, and begin the model's folder."""
    folder, recipe, data = asked.folder, asked.recipe, asked.folder / DATA
    prepare_output(folder, resume=False, overwrite=asked.overwrite or asked.resume)
    data.parent.mkdir(exist_ok=True)
    (folder / STAGED).rename(data)
    prepared = read_prepared(data, recipe)
    if recipe.training.adapt:
        dtype = training_dtype(recipe.training.precision, asked.device)
        tokens = expected_tokens(recipe, clock.seconds(), asked.device, dtype)
        fixed = asked.given | ({"model.d_model"} if asked.start_from or recipe.model.embeddings else set())
        recipe, said = adapt(recipe, fixed, tokens, int(prepared.train.target.lengths.sum()))
        for line in said:
            asked.talk(line)
    _write_head(folder, recipe, prepared, asked.begun)
    return recipe, prepared


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise UserError(f"there is no device {name} here", where=f"--device {name}", hint="use cpu or auto") from error
    return device


def _write_head(folder: Path, recipe: TranslatorRecipe, prepared: Prepared, begun: Mapping[str, Any]) -> None:
    """Write what makes the folder a model but for its weights."""
    write_tokenizers(folder, prepared.tokenizers)
    generation = recipe.generation.model_dump()
    if generation["split_above"] is None:
        # A line longer than nearly all that was trained on is better translated in parts.
        usual = int(numpy.percentile(prepared.train.source.lengths, 99))
        generation["split_above"] = min(LONGEST_SPLIT, max(SHORTEST_SPLIT, usual))
    write_json(folder / "generation_config.json", generation)
    write_json(folder / "report.json", {"data": prepared.report})
    guided = recipe.training.guided_weight > 0
    heads = range(min(recipe.training.guided_heads, recipe.model.n_heads))
    fields: dict[str, Any] = {
        "model": recipe.model.model_dump(),
        "source_vocab_size": prepared.tokenizers.source.vocab_size,
        "target_vocab_size": prepared.tokenizers.target.vocab_size,
        "source_language": prepared.report["languages"][0],
        "target_language": prepared.report["languages"][1],
        "tokenizers": "joint" if prepared.tokenizers.joint else "separate",
        "placeholders": prepared.report["with_placeholders"] >= ENOUGH_PLACEHOLDERS,
        "alignment_heads": [[recipe.training.guided_layer, head] for head in heads] if guided else [],
        "begun_with": begun,
        "recipe": recipe.model_dump(),
    }
    write_config(folder, "translator", fields)


def _model(recipe: TranslatorRecipe, prepared: Prepared, device: torch.device) -> EncoderDecoder:
    tokenizers = prepared.tokenizers
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    check_fits(recipe.model, sizes, recipe.training.average_decay is not None, device)
    return EncoderDecoder(recipe.model, *sizes, tokenizers.source.pad_id)


def _new_run(
    recipe: TranslatorRecipe, prepared: Prepared, model: EncoderDecoder, observer: RunFolder, clock: Clock
) -> Run:
    device = model.target_embedding.weight.device
    decay = recipe.training.average_decay

    def decode(source: torch.Tensor, target: torch.Tensor, tap: Tap) -> torch.Tensor:
        return model.decode(target, model.encode(source, tap), tap)

    return Run(
        config=recipe.training,
        model=model,
        optimizer=adamw(model, recipe.training),
        average=None if decay is None else WeightAverage(model, decay),
        pairs=prepared.train,
        lexicon=prepared.lexicon if recipe.training.guided_weight > 0 else None,
        micro_batch_tokens=recipe.training.micro_batch_tokens or recipe.training.batch_tokens,
        dtype=training_dtype(recipe.training.precision, device),
        device=device,
        clock=clock,
        observer=observer,
        decode=torch.compile(decode, dynamic=True) if recipe.training.compile else decode,
    )


def _first_weights(model: EncoderDecoder, recipe: TranslatorRecipe, prepared: Prepared) -> None:
    seed = recipe.training.seed
    draw_weights(model, seed, recipe.initialise.residual_scale)
    if recipe.initialise.pass_through:
        pass_through_cross_attention(model, seed)
    if recipe.initialise.lexical and prepared.lexicon is not None:
        tell_lexicon(model, prepared.lexicon, *token_counts(prepared.train))


def _start_from_vectors(model: EncoderDecoder, recipe: TranslatorRecipe, prepared: Prepared, asked: _Request) -> None:
    if recipe.model.embeddings is None:
        return
    vectors = check_vectors(recipe.model.embeddings, recipe.model.d_model)
    for oddity in vectors.report.oddities if vectors.report else ():
        asked.talk(f"word vectors: {oddity.message} ({oddity.place})")
    both = (prepared.tokenizers.source, prepared.tokenizers.target)
    for covered in start_embeddings(model, both, vectors, token_counts(prepared.train), asked.folder / DATA):
        asked.talk(covered.as_line())


def _take_weights(model: EncoderDecoder, folder: Path) -> None:
    finished = build_translator_model(read_config(folder, "translator"), folder / "model.safetensors")
    model.load_state_dict(finished.state_dict())


def _fit_memory(run: Run, folder: Path, recipe: TranslatorRecipe) -> None:
    """Fit the micro-batch to memory unless given; keep it and the recipe as it is now, so that a resume finds both."""
    config = read_json(folder / "config.json")
    settings = recipe.training
    if settings.micro_batch_tokens is None:
        fitted = config.get("micro_batch_tokens") or fit_micro_batch(
            recipe.model, settings.batch_tokens, settings.max_tokens, run.dtype, run.device
        )
        run.micro_batch_tokens = int(fitted)
    now = {"recipe": recipe.model_dump(), "micro_batch_tokens": run.micro_batch_tokens}
    write_json(folder / "config.json", config | now)


def _finish(run: Run, prepared: Prepared, folder: Path, talk: Talk) -> None:
    """Keep the weights with the lowest validation loss: the last, their average, or those of the best checkpoint."""
    losses: dict[str, float] = {}
    for name, weights in _choices(run, folder):
        with weights_in_place(run.model, weights):
            losses[name] = validation_loss(run, prepared) if prepared.valid_text else 0.0
            if losses[name] == min(losses.values()) and list(losses.values()).count(losses[name]) == 1:
                save_weights(run.model, folder / "model.safetensors")
    chosen = min(losses, key=lambda name: losses[name])
    report = read_json(folder / "report.json")
    report["training"] = {
        "steps": run.state.step,
        "epochs": run.state.epoch,
        "target_tokens": run.state.tokens,
        "seconds": run.state.seconds,
        "threads": torch.get_num_threads(),
        "device": str(run.device),
        "precision": str(run.dtype).removeprefix("torch."),
        "weights": chosen,
        "validation_losses": losses if prepared.valid_text else {},
        "stopped_early": run.stopped_early(),
    }
    write_json(folder / "report.json", report)
    talk(f"{folder} holds the {chosen} weights" + (f": validation loss {losses[chosen]:.3f}" if losses[chosen] else ""))


def _choices(run: Run, folder: Path) -> Iterator[tuple[str, dict[str, torch.Tensor] | None]]:
    """Yield names and weights to choose from, what to prefer at equal loss first; None for the model's own."""
    averaged = run.averaged()
    if averaged is not None:
        yield "averaged", averaged
    yield "last", None
    best = run.state.best_step
    for checkpoint in all_checkpoints(folder):
        if step_of(checkpoint) == best != run.state.step:
            content = read_checkpoint(checkpoint, str(run.device))
            own = {name: weight for name, weight in content.model.items() if not name.startswith(AVERAGED)}
            means = {name: content.model.get(AVERAGED + name, weight) for name, weight in own.items()}
            yield "best", means if content.state["average_updates"] else own

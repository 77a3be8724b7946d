"""Train a translator: sentence pairs in, a model folder out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy
import torch

from pellucid.distributed import launched_device, launched_rank
from pellucid.errors import UsageError
from pellucid.generation.device import select_device
from pellucid.generation.generation_config import LONGEST_SPLIT, SHORTEST_SPLIT
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.initialise import init_from_lexicon, init_identity_cross_attention, init_weights
from pellucid.models.weights import load_encoder_decoder
from pellucid.storage.model_folder import read_config, write_config, write_json
from pellucid.tokenizers.model_tokenizers import read_tokenizers, write_tokenizers
from pellucid.training.adapt import expected_tokens
from pellucid.training.adapt_translator import adapt_translator
from pellucid.training.calibration import Calibration, MakeTask
from pellucid.training.clock import Clock
from pellucid.training.memory_fit import check_fits
from pellucid.training.prepare_pairs import PreparedPairs, count_tokens, prepare_pairs, read_prepared_pairs
from pellucid.training.pretrained_embeddings import (
    freeze_matched_rows,
    init_embeddings,
    load_vectors,
    translator_embeddings,
)
from pellucid.training.recipe import TranslatorRecipe
from pellucid.training.replicas import follow_launched
from pellucid.training.request import (
    Log,
    RunSpec,
    TrainingRequest,
    follow_request,
    ignore,
    resolve,
    settings_with_length,
)
from pellucid.training.run import Run
from pellucid.training.run_folder import explain_full_disk
from pellucid.training.session import (
    begin_session,
    build_run,
    check_spec,
    continue_folder,
    continue_run,
    data_folder,
    fit_memory,
    measure_choices,
    open_led_run,
    replace_folder,
    report_unread_files,
    staging_folder,
    train_to_end,
)
from pellucid.training.state import Step
from pellucid.training.translation_task import TranslationTask

__all__ = ["open_translator_run", "train_translator"]

ENOUGH_PLACEHOLDERS = 100
"""Minimum number of pairs with placeholders for a model to learn to copy them; with fewer, they are inserted after
translation."""

Languages = tuple[str | None, str | None]


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
    log: Log = ignore,
) -> Iterator[Step]:
    """Train a translator, yielding a record of every step; when the generator ends, the model is in `out`.

    Closing the generator early writes a checkpoint, from which `resume=True` continues. Everything that can be checked
    without reading the text is checked before this function returns.

    Args:
        sources: files of sentence pairs, in the formats of `pellucid.corpus.formats`.
        out: folder of the model.
        recipe: a built-in name or a TOML file; by default `fast`, or the recipe of the run to resume.
        minutes: length of the run, preparation included; by default the recipe's.
        steps: length of the run in optimizer steps; by default the recipe's.
        settings: values by `section.field` that override the recipe, and `minutes` and `steps` too.
        valid: files with validation pairs; by default some pairs are held out.
        source_lang: language code of the source, recorded in the model.
        target_lang: language code of the target, likewise.
        start_from: folder of a finished translator to start from; its tokenizers and sizes are kept.
        resume: continue the run in `out`.
        overwrite: replace the model in `out`.
        device: `auto`, `cpu`, `cuda`, …
        log: called with each line of progress.

    Raises:
        UserError: for invalid settings, unreadable or unusable text, an output folder that already contains a model, a
            full disk, or a loss that is not finite.
    """
    if launched_rank():
        own = launched_device(select_device(device))
        return follow_launched(lambda: open_translator_run(Path(out), own), own)
    request = TrainingRequest(
        sources=tuple(sources),
        out=Path(out),
        recipe=recipe,
        settings=settings_with_length(settings, minutes, steps),
        valid=tuple(valid),
        start_from=None if start_from is None else Path(start_from),
        resume=resume,
        overwrite=overwrite,
        device=device,
        log=log,
    )
    spec = resolve(request, TranslatorRecipe)
    check_spec(spec)
    return _train(spec, (source_lang, target_lang))


def _train(spec: RunSpec[TranslatorRecipe], languages: Languages) -> Iterator[Step]:
    """Prepare the text or continue from a checkpoint, train, and save the best weights."""
    recipe, new = spec.recipe, spec.checkpoint is None
    clock = begin_session(spec)
    if new:
        prepare_pairs(
            spec.request.sources,
            staging_folder(spec),
            recipe,
            valid=spec.request.valid,
            languages=languages,
            tokenizers=read_tokenizers(spec.start_from) if spec.start_from else None,
            log=spec.log,
        )
    with explain_full_disk(spec.folder, spec.request.overwrite):
        if new:
            replace_folder(spec)
            prepared = read_prepared_pairs(data_folder(spec), recipe)
            recipe, measured = _choose_settings(spec, prepared, clock)
            _write_metadata(spec, recipe, prepared, measured)
        else:
            continue_folder(spec)
            prepared = read_prepared_pairs(data_folder(spec), recipe)
        model = _build_model(spec, recipe, prepared)
        if new:
            _init_model(spec, recipe, prepared, model)
        run = _build_run(spec, recipe, prepared, model, clock)
        if not new:
            report_unread_files(spec, prepared.report)
            _check_languages(languages, prepared)
            if not continue_run(run, spec):
                return
        if recipe.model.freeze_embeddings:
            freeze_matched_rows(model, run.optimizer, data_folder(spec))
        fit_memory(run, recipe, longest=recipe.training.max_tokens)
        yield from train_to_end(run, spec)


def open_translator_run(folder: Path, device: torch.device) -> Run:
    """Open the run in `folder` that another process leads, to compute a share of its steps."""
    spec = resolve(follow_request(folder, device), TranslatorRecipe)
    prepared = read_prepared_pairs(data_folder(spec), spec.recipe)
    model = _build_model(spec, spec.recipe, prepared)
    run = _build_run(spec, spec.recipe, prepared, model, Clock(spec.recipe.training.clock))
    return open_led_run(run, spec)


def _build_run(
    spec: RunSpec[TranslatorRecipe],
    recipe: TranslatorRecipe,
    prepared: PreparedPairs,
    model: EncoderDecoder,
    clock: Clock,
) -> Run:
    model.to(spec.device)
    return build_run(spec, recipe, model, TranslationTask(recipe.training, model, prepared, spec.folder), clock)


def _choose_settings(
    spec: RunSpec[TranslatorRecipe], prepared: PreparedPairs, clock: Clock
) -> tuple[TranslatorRecipe, Calibration]:
    """Choose the settings that the recipe leaves open, by what this machine does."""

    def build(recipe: TranslatorRecipe) -> tuple[EncoderDecoder, MakeTask]:
        model = _build_model(spec, recipe, prepared)
        init_weights(model, recipe.training.seed, recipe.initialise.residual_scale)
        model.to(spec.device)

        def make_task(precision: str) -> TranslationTask:
            config = recipe.training.model_copy(update={"precision": precision, "compile": False})
            return TranslationTask(config, model, prepared, spec.folder)

        return model, make_task

    recipe, measured = measure_choices(spec, spec.recipe, build)

    def expect(sized: TranslatorRecipe) -> float:
        same = sized.model.d_model == recipe.model.d_model
        found = measured if same else measure_choices(spec, sized, build)[1]
        return expected_tokens(sized.training, clock.seconds(), found.tokens_per_second)

    if recipe.training.adapt:
        sizes_fixed = spec.start_from is not None or recipe.model.embeddings is not None
        decided = spec.decided | ({"model.d_model"} if sizes_fixed else set())
        recipe, line = adapt_translator(recipe, decided, expect, int(prepared.train.target.lengths.sum()))
        if line:
            spec.log(line)
    if len(measured.milliseconds) > 1:
        spec.log(measured.as_line())
    return recipe, measured


def _write_metadata(
    spec: RunSpec[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs, measured: Calibration
) -> None:
    """Write all files of the model folder except the weights."""
    folder, tokenizers, report = spec.folder, prepared.tokenizers, prepared.report
    write_tokenizers(folder, tokenizers)
    generation = recipe.generation.model_dump()
    if generation["split_above"] is None:
        # A line longer than nearly all training lines is better translated in parts.
        usual = int(numpy.percentile(prepared.train.source.lengths, 99))
        generation["split_above"] = min(LONGEST_SPLIT, max(SHORTEST_SPLIT, usual))
    write_json(folder / "generation_config.json", generation)
    write_json(folder / "report.json", {"data": report})
    guided_heads = range(min(recipe.training.guided_heads, recipe.model.n_heads))
    guided = recipe.training.guided_weight > 0
    fields: dict[str, Any] = {
        "model": recipe.model.model_dump(),
        "source_vocab_size": tokenizers.source.vocab_size,
        "target_vocab_size": tokenizers.target.vocab_size,
        "source_language": report["languages"][0],
        "target_language": report["languages"][1],
        "tokenizers": "joint" if tokenizers.joint else "separate",
        "placeholders": report["with_placeholders"] >= ENOUGH_PLACEHOLDERS,
        "alignment_heads": [[recipe.training.guided_layer, head] for head in guided_heads] if guided else [],
        "begun_with": spec.begun_with,
        "measured": asdict(measured),
        "recipe": recipe.model_dump(),
    }
    write_config(folder, "translator", fields)


def _build_model(spec: RunSpec[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs) -> EncoderDecoder:
    source, target = prepared.tokenizers.source, prepared.tokenizers.target
    vocab_sizes = (source.vocab_size, target.vocab_size)
    check_fits(recipe.model, vocab_sizes, recipe.training.average_decay is not None, spec.device)
    return EncoderDecoder(recipe.model, *vocab_sizes, source.pad_id)


def _init_model(
    spec: RunSpec[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs, model: EncoderDecoder
) -> None:
    """Load the weights of the model to start from, or initialise new ones."""
    if spec.start_from is not None:
        finished = load_encoder_decoder(
            read_config(spec.start_from, "translator"), spec.start_from / "model.safetensors"
        )
        model.load_state_dict(finished.state_dict())
        return
    seed = recipe.training.seed
    init_weights(model, seed, recipe.initialise.residual_scale)
    if recipe.initialise.identity_cross_attention:
        init_identity_cross_attention(model, seed)
    if recipe.initialise.from_lexicon and prepared.lexicon is not None:
        init_from_lexicon(model, prepared.lexicon, *count_tokens(prepared.train))
    if recipe.model.embeddings is not None:
        vectors = load_vectors(recipe.model.embeddings, recipe.model.d_model)
        embeddings = translator_embeddings(model, prepared.tokenizers, count_tokens(prepared.train))
        init_embeddings(embeddings, vectors, data_folder(spec), spec.log)


def _check_languages(languages: Languages, prepared: PreparedPairs) -> None:
    """Reject languages that differ from those recorded when the run began."""
    for side, given, recorded in zip(("source", "target"), languages, prepared.report["languages"], strict=True):
        if given is not None and given != recorded:
            raise UsageError(
                f"the run was started with {side} language {recorded or 'unknown'}, got {given}",
                where=f"--{side}-lang {given}",
                hint="The language cannot change when a run is resumed: leave it out, or start over with --overwrite.",
            )

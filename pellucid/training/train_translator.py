"""Train a translator: sentence pairs in, a model folder out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy

from pellucid.errors import UsageError
from pellucid.generation.generation_config import LONGEST_SPLIT, SHORTEST_SPLIT
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.initialise import init_from_lexicon, init_identity_cross_attention, init_weights
from pellucid.models.weights import load_encoder_decoder
from pellucid.storage.model_folder import read_config, write_config, write_json
from pellucid.tokenizers.model_tokenizers import read_tokenizers, write_tokenizers
from pellucid.training.adapt import estimate_tokens
from pellucid.training.adapt_translator import adapt_translator
from pellucid.training.memory_fit import check_fits
from pellucid.training.prepare_pairs import PreparedPairs, count_tokens, prepare_pairs, read_prepared_pairs
from pellucid.training.pretrained_embeddings import (
    freeze_matched_rows,
    init_embeddings,
    load_vectors,
    translator_embeddings,
)
from pellucid.training.recipe import TranslatorRecipe
from pellucid.training.request import Log, RunSpec, TrainingRequest, ignore, resolve, settings_with_length
from pellucid.training.run_folder import explain_full_disk
from pellucid.training.session import (
    begin_session,
    build_run,
    check_spec,
    continue_folder,
    continue_run,
    data_folder,
    fit_memory,
    replace_folder,
    report_unread_files,
    staging_folder,
    train_to_end,
)
from pellucid.training.state import Step
from pellucid.training.translation_task import TranslationTask

__all__ = ["train_translator"]

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
            recipe = _adapt(spec, prepared, clock.seconds())
            _write_metadata(spec, recipe, prepared)
        else:
            continue_folder(spec)
            prepared = read_prepared_pairs(data_folder(spec), recipe)
        model = _build_model(spec, recipe, prepared)
        if new:
            _init_model(spec, recipe, prepared, model)
        model.to(spec.device)
        task = TranslationTask(recipe.training, model, prepared, spec.folder)
        run = build_run(spec, recipe, model, task, clock)
        if not new:
            report_unread_files(spec, prepared.report)
            _check_languages(languages, prepared)
            if not continue_run(run, spec):
                return
        if recipe.model.freeze_embeddings:
            freeze_matched_rows(model, run.optimizer, data_folder(spec))
        fit_memory(run, recipe, longest=recipe.training.max_tokens)
        yield from train_to_end(run, spec)


def _adapt(spec: RunSpec[TranslatorRecipe], prepared: PreparedPairs, seconds: float) -> TranslatorRecipe:
    """Choose the settings that the recipe leaves open.

    Args:
        seconds: time already spent on the run.
    """
    recipe = spec.recipe
    if not recipe.training.adapt:
        return recipe
    tokens = estimate_tokens(recipe.training, seconds, spec.device)
    sizes_fixed = spec.start_from is not None or recipe.model.embeddings is not None
    decided = spec.decided | ({"model.d_model"} if sizes_fixed else set())
    adapted, line = adapt_translator(recipe, decided, tokens, int(prepared.train.target.lengths.sum()))
    if line:
        spec.log(line)
    return adapted


def _write_metadata(spec: RunSpec[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs) -> None:
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

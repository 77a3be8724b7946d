"""Train a language model: text in, a model folder out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from pellucid.distributed import launched_device, launched_rank
from pellucid.errors import UserError
from pellucid.generation.device import select_device
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights
from pellucid.models.weights import load_decoder_only
from pellucid.plurals import pluralize
from pellucid.storage.model_folder import read_config, write_config, write_json
from pellucid.tokenizers.tokenizer_file import load_tokenizer
from pellucid.training.adapt import expected_tokens
from pellucid.training.adapt_language_model import MODEL_SIZES, adapt_language_model
from pellucid.training.calibration import Calibration, MakeTask
from pellucid.training.clock import Clock
from pellucid.training.language_model_task import LanguageModelTask
from pellucid.training.memory_fit import check_fits
from pellucid.training.prepare_pairs import count_ids
from pellucid.training.prepare_text import PreparedText, prepare_text, read_prepared_text
from pellucid.training.pretrained_embeddings import EmbeddingMatrix, freeze_matched_rows, init_embeddings, load_vectors
from pellucid.training.recipe import LanguageModelRecipe
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

__all__ = ["open_lm_run", "train_lm"]


def train_lm(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    recipe: str | Path | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    settings: Mapping[str, object] | None = None,
    valid: Sequence[str | Path] = (),
    start_from: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    device: str = "auto",
    log: Log = ignore,
) -> Iterator[Step]:
    """Train a language model, yielding a record of every step; when the generator ends, the model is in `out`.

    Closing the generator early writes a checkpoint, from which `resume=True` continues. Everything that can be checked
    without reading the text is checked before this function returns.

    Args:
        sources: plain text files, or JSONL files with `text`, or with `prompt` and `completion`, of which only the
            completion is learnt.
        out: folder of the model.
        recipe: a built-in name or a TOML file; by default `fast`, or the recipe of the run to resume.
        minutes: length of the run, preparation included; by default the recipe's.
        steps: length of the run in optimizer steps; by default the recipe's.
        settings: values by `section.field` that override the recipe, and `minutes` and `steps` too.
        valid: files with validation text; by default some documents are held out.
        start_from: folder of a finished language model to start from; its tokenizer and sizes are kept.
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
        return follow_launched(lambda: open_lm_run(Path(out), own), own)
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
    spec = resolve(request, LanguageModelRecipe)
    _check_start(spec)
    check_spec(spec)
    return _train(spec)


def _check_start(spec: RunSpec[LanguageModelRecipe]) -> None:
    """Reject an imported model to start from: its tokenizer is not one that Pellucid trains with."""
    if spec.start_from is not None and "tokenizer" in read_config(spec.start_from, "language-model"):
        raise UserError(
            f"{spec.start_from} holds an imported model; only models trained by Pellucid can be trained further",
            where=f"--from {spec.start_from}",
            hint="Leave --from out to train a new model from your text.",
        )


def _train(spec: RunSpec[LanguageModelRecipe]) -> Iterator[Step]:
    """Prepare the text or continue from a checkpoint, train, and save the best weights."""
    recipe, new = spec.recipe, spec.checkpoint is None
    clock = begin_session(spec)
    if new:
        prepare_text(
            spec.request.sources,
            staging_folder(spec),
            recipe,
            valid=spec.request.valid,
            tokenizer=load_tokenizer(spec.start_from / "tokenizer.json") if spec.start_from else None,
            log=spec.log,
        )
    with explain_full_disk(spec.folder, spec.request.overwrite):
        if new:
            replace_folder(spec)
            recipe, measured = _choose_settings(spec, read_prepared_text(data_folder(spec), recipe), clock)
            prepared = read_prepared_text(data_folder(spec), recipe)  # with the context that was chosen
            _write_metadata(spec, recipe, prepared, measured)
        else:
            continue_folder(spec)
            prepared = read_prepared_text(data_folder(spec), recipe)
        model = _build_model(spec, recipe, prepared)
        if new:
            _init_model(spec, recipe, prepared, model)
        run = _build_run(spec, recipe, prepared, model, clock)
        if not new:
            report_unread_files(spec, prepared.report)
            if not continue_run(run, spec):
                return
        if recipe.model.freeze_embeddings:
            freeze_matched_rows(model, run.optimizer, data_folder(spec))
        fit_memory(run, recipe, longest=recipe.model.max_positions)
        yield from train_to_end(run, spec)


def open_lm_run(folder: Path, device: torch.device) -> Run:
    """Open the run in `folder` that another process leads, to compute a share of its steps."""
    spec = resolve(follow_request(folder, device), LanguageModelRecipe)
    prepared = read_prepared_text(data_folder(spec), spec.recipe)
    model = _build_model(spec, spec.recipe, prepared)
    run = _build_run(spec, spec.recipe, prepared, model, Clock(spec.recipe.training.clock))
    return open_led_run(run, spec)


def _build_run(
    spec: RunSpec[LanguageModelRecipe],
    recipe: LanguageModelRecipe,
    prepared: PreparedText,
    model: DecoderOnly,
    clock: Clock,
) -> Run:
    model.to(spec.device)
    task = LanguageModelTask(recipe.training, recipe.generation, model, prepared)
    return build_run(spec, recipe, model, task, clock)


def _choose_settings(
    spec: RunSpec[LanguageModelRecipe], prepared: PreparedText, clock: Clock
) -> tuple[LanguageModelRecipe, Calibration]:
    """Choose the settings that the recipe leaves open, by what this machine does."""

    def build(recipe: LanguageModelRecipe) -> tuple[DecoderOnly, MakeTask]:
        model = _build_model(spec, recipe, prepared)
        init_weights(model, recipe.training.seed, recipe.initialise.residual_scale)
        model.to(spec.device)

        def make_task(precision: str) -> LanguageModelTask:
            config = recipe.training.model_copy(update={"precision": precision, "compile": False})
            return LanguageModelTask(config, recipe.generation, model, prepared)

        return model, make_task

    recipe, measured = measure_choices(spec, spec.recipe, build)

    def expect(sized: LanguageModelRecipe) -> float:
        same = sized.model.d_model == recipe.model.d_model
        found = measured if same else measure_choices(spec, sized, build)[1]
        return expected_tokens(sized.training, clock.seconds(), found.tokens_per_second)

    if recipe.training.adapt:
        decided = spec.decided | (MODEL_SIZES | {"model.max_positions"} if spec.start_from is not None else set())
        recipe, line = adapt_language_model(recipe, decided, expect, prepared.train.lengths)
        if line:
            spec.log(line)
    if len(measured.milliseconds) > 1:
        spec.log(measured.as_line())
    return recipe, measured


def _write_metadata(
    spec: RunSpec[LanguageModelRecipe], recipe: LanguageModelRecipe, prepared: PreparedText, measured: Calibration
) -> None:
    """Write everything that makes the folder a model except its weights."""
    if cut := prepared.train.cut_prompts:
        spec.log(
            f"{pluralize(cut, 'document')} with a prompt longer than the context of {prepared.train.context:,} tokens: "
            "what does not fit is learnt without the prompt; --model.max_positions sets the context"
        )
    folder, tokenizer = spec.folder, prepared.tokenizer
    tokenizer.save(folder / "tokenizer.json")
    write_json(folder / "generation_config.json", recipe.generation.model_dump())
    write_json(folder / "report.json", {"data": prepared.report})
    fields: dict[str, Any] = {
        "model": recipe.model.model_dump(),
        "vocab_size": tokenizer.vocab_size,
        "pad_id": tokenizer.pad_id,
        "begun_with": spec.begun_with,
        "measured": asdict(measured),
        "recipe": recipe.model_dump(),
    }
    write_config(folder, "language-model", fields)


def _build_model(
    spec: RunSpec[LanguageModelRecipe], recipe: LanguageModelRecipe, prepared: PreparedText
) -> DecoderOnly:
    vocab_size = prepared.tokenizer.vocab_size
    check_fits(recipe.model, (vocab_size, vocab_size), recipe.training.average_decay is not None, spec.device)
    return DecoderOnly(recipe.model, vocab_size, prepared.tokenizer.pad_id)


def _init_model(
    spec: RunSpec[LanguageModelRecipe], recipe: LanguageModelRecipe, prepared: PreparedText, model: DecoderOnly
) -> None:
    """Load the weights of the model to start from, or initialise new ones."""
    if spec.start_from is not None:
        finished = load_decoder_only(
            read_config(spec.start_from, "language-model"), spec.start_from / "model.safetensors"
        )
        model.load_state_dict(finished.state_dict())
        return
    init_weights(model, recipe.training.seed, recipe.initialise.residual_scale)
    if recipe.model.embeddings is not None:
        vectors, tokenizer = load_vectors(recipe.model.embeddings, recipe.model.d_model), prepared.tokenizer
        learnt = prepared.train.ids[prepared.train.ids >= 0]
        counts = count_ids(learnt, tokenizer.vocab_size)
        matrix = EmbeddingMatrix("embedding", "text", model.embedding.weight, tokenizer, counts)
        init_embeddings([matrix], vectors, data_folder(spec), spec.log)

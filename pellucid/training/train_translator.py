"""Two files in, a translator out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import torch

from pellucid.errors import UsageError
from pellucid.generation.generation_config import LONGEST_SPLIT, SHORTEST_SPLIT
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.initialise import init_from_lexicon, init_identity_cross_attention, init_weights
from pellucid.models.weights import load_encoder_decoder
from pellucid.storage.checkpoints import latest_checkpoint
from pellucid.storage.model_folder import read_config, write_config, write_json
from pellucid.training.adapt_translator import adapt_translator, estimate_tokens
from pellucid.training.memory_fit import check_fits, fit_micro_batch
from pellucid.training.precision import training_dtype
from pellucid.training.prepare_pairs import (
    PreparedPairs,
    prepare_pairs,
    read_prepared_pairs,
    read_tokenizers,
    token_counts,
    write_tokenizers,
)
from pellucid.training.pretrained_embeddings import (
    freeze_rows,
    init_embeddings,
    open_vectors,
    read_matched_rows,
    translator_embeddings,
)
from pellucid.training.recipe import TranslatorRecipe
from pellucid.training.sitting import DATA, Asked, Log, Order, Subject, say_what_is_not_read, sitting
from pellucid.training.state import Step
from pellucid.training.translation_task import TranslationTask

__all__ = ["train_translator"]

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
    log: Log = lambda text: None,
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
    order = Order(sources, out, recipe, minutes, steps, settings, valid, start_from, resume, overwrite, device, log)
    return sitting(_Translator((source_lang, target_lang)), order)


class _Translator(Subject[TranslatorRecipe, PreparedPairs, EncoderDecoder]):
    """What is particular to training a translator.

    Args:
        languages: codes of source and target, None where not given.
    """

    recipe = TranslatorRecipe

    def __init__(self, languages: tuple[str | None, str | None]) -> None:
        self.languages = languages

    def check(self, asked: Asked[TranslatorRecipe]) -> None:
        chosen, goes_on = asked.recipe, asked.resume and latest_checkpoint(asked.folder) is not None
        if chosen.model.embeddings is not None and not goes_on:
            open_vectors(chosen.model.embeddings, chosen.model.d_model)
        vocab_size = chosen.tokenizer.vocab_size or 0
        averaged = chosen.training.average_decay is not None
        check_fits(chosen.model, (vocab_size, vocab_size), averaged, asked.device)

    def prepare_pairs(self, asked: Asked[TranslatorRecipe], folder: Path) -> None:
        prepare_pairs(
            asked.sources,
            folder,
            asked.recipe,
            valid=asked.valid,
            languages=self.languages,
            tokenizers=read_tokenizers(asked.start_from) if asked.start_from else None,
            log=asked.log,
        )

    def read(self, folder: Path, recipe: TranslatorRecipe) -> PreparedPairs:
        return read_prepared_pairs(folder, recipe)

    def choose(self, asked: Asked[TranslatorRecipe], prepared: PreparedPairs, seconds: float) -> TranslatorRecipe:
        recipe = asked.recipe
        dtype = training_dtype(recipe.training.precision, asked.device)
        tokens = estimate_tokens(recipe, seconds, asked.device, dtype)
        fixed = asked.given | ({"model.d_model"} if asked.start_from or recipe.model.embeddings else set())
        recipe, said = adapt_translator(recipe, fixed, tokens, int(prepared.train.target.lengths.sum()))
        for line in said:
            asked.log(line)
        return recipe

    def write_head(self, asked: Asked[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs) -> None:
        _write_head(asked.folder, recipe, prepared, asked.begun)

    def model(self, recipe: TranslatorRecipe, prepared: PreparedPairs, device: torch.device) -> EncoderDecoder:
        tokenizers = prepared.tokenizers
        sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
        check_fits(recipe.model, sizes, recipe.training.average_decay is not None, device)
        return EncoderDecoder(recipe.model, *sizes, tokenizers.source.pad_id)

    def first_weights(
        self, asked: Asked[TranslatorRecipe], recipe: TranslatorRecipe, prepared: PreparedPairs, model: EncoderDecoder
    ) -> None:
        if asked.start_from:
            _take_weights(model, asked.start_from)
        else:
            _first_weights(model, recipe, prepared)
            _start_from_vectors(model, recipe, prepared, asked)

    def task(
        self, recipe: TranslatorRecipe, prepared: PreparedPairs, model: EncoderDecoder, folder: Path
    ) -> TranslationTask:
        return TranslationTask(recipe.training, model, prepared, folder)

    def check_same_text(self, asked: Asked[TranslatorRecipe], prepared: PreparedPairs) -> None:
        say_what_is_not_read(asked, prepared.report)
        sides = zip(("source", "target"), self.languages, prepared.report["languages"], strict=True)
        for side, given, recorded in sides:
            if given is not None and given != recorded:
                raise UsageError(
                    f"the {side} language stays {recorded or 'unknown'}, got {given}",
                    where=f"--{side}-lang {given}",
                    hint="It was recorded when the run began: leave it out, or start anew with --overwrite.",
                )

    def freeze(
        self, recipe: TranslatorRecipe, model: EncoderDecoder, optimizer: torch.optim.Optimizer, folder: Path
    ) -> None:
        if recipe.model.freeze_embeddings and recipe.model.embeddings is not None:
            freeze_rows(model, optimizer, read_matched_rows(folder / DATA))

    def fitting_tokens(self, recipe: TranslatorRecipe, dtype: torch.dtype, device: torch.device) -> int:
        training = recipe.training
        return fit_micro_batch(recipe.model, training.batch_tokens, training.max_tokens, dtype, device)


def _write_head(folder: Path, recipe: TranslatorRecipe, prepared: PreparedPairs, begun: Mapping[str, Any]) -> None:
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


def _first_weights(model: EncoderDecoder, recipe: TranslatorRecipe, prepared: PreparedPairs) -> None:
    seed = recipe.training.seed
    init_weights(model, seed, recipe.initialise.residual_scale)
    if recipe.initialise.identity_cross_attention:
        init_identity_cross_attention(model, seed)
    if recipe.initialise.from_lexicon and prepared.lexicon is not None:
        init_from_lexicon(model, prepared.lexicon, *token_counts(prepared.train))


def _start_from_vectors(
    model: EncoderDecoder, recipe: TranslatorRecipe, prepared: PreparedPairs, asked: Asked[TranslatorRecipe]
) -> None:
    if recipe.model.embeddings is None:
        return
    vectors = open_vectors(recipe.model.embeddings, recipe.model.d_model)
    both = (prepared.tokenizers.source, prepared.tokenizers.target)
    embeddings = translator_embeddings(model, both, token_counts(prepared.train))
    init_embeddings(embeddings, vectors, asked.folder / DATA, asked.log)


def _take_weights(model: EncoderDecoder, folder: Path) -> None:
    finished = load_encoder_decoder(read_config(folder, "translator"), folder / "model.safetensors")
    model.load_state_dict(finished.state_dict())

"""A text in, a language model out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from pellucid.errors import UserError
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.initialise import init_weights
from pellucid.models.weights import load_decoder_only
from pellucid.plurals import pluralize
from pellucid.storage.checkpoints import latest_checkpoint
from pellucid.storage.model_folder import read_config, write_config, write_json
from pellucid.tokenizers.tokenizer_file import load_tokenizer
from pellucid.training.adapt_language_model import adapt_language_model
from pellucid.training.language_model_task import LanguageModelTask
from pellucid.training.memory_fit import check_fits, fit_micro_batch
from pellucid.training.prepare_pairs import count_ids
from pellucid.training.prepare_text import PreparedText, prepare_text, read_prepared_text
from pellucid.training.pretrained_embeddings import (
    EmbeddingMatrix,
    freeze_rows,
    init_embeddings,
    open_vectors,
    read_matched_rows,
)
from pellucid.training.recipe import LanguageModelRecipe
from pellucid.training.sitting import DATA, Asked, Log, Order, Subject, say_what_is_not_read, sitting
from pellucid.training.state import Step

__all__ = ["train_lm"]


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
    log: Log = lambda text: None,
) -> Iterator[Step]:
    """Train a language model; return a generator of its steps. The model is in `out` when it ends.

    Closing the generator early writes a checkpoint, from which `resume=True` goes on. What can be checked without
    reading the text is checked before this returns.

    Args:
        sources: plain texts, or JSONL files with `text`, or with `prompt` and `completion`; of the latter only the
            completion is learnt.
        out: folder of the model.
        recipe: a name or a TOML file; `fast` if not given, or that of the run which goes on.
        minutes, steps: length of the run; the recipe's if neither is given.
        settings: values by `section.field`, instead of the recipe's; they hold against `minutes` and `steps` too.
        valid: files with validation text; some is held out if none are given.
        start_from: folder of a finished language model to train on; its tokenizer and sizes are kept.
        resume: go on with the run in `out`.
        overwrite: replace the model in `out`.
        device: `auto`, `cpu`, `cuda` …
        talk: told what is going on.

    Raises:
        UserError: for bad settings, unreadable or ruinous text, a folder that is not free, a full disk, non-finite
            loss.
    """
    order = Order(sources, out, recipe, minutes, steps, settings, valid, start_from, resume, overwrite, device, log)
    return sitting(_LanguageModel(), order)


class _LanguageModel(Subject[LanguageModelRecipe, PreparedText, DecoderOnly]):
    """What is particular to training a language model."""

    recipe = LanguageModelRecipe

    def check(self, asked: Asked[LanguageModelRecipe]) -> None:
        chosen, goes_on = asked.recipe, asked.resume and latest_checkpoint(asked.folder) is not None
        if chosen.model.embeddings is not None and not goes_on:
            open_vectors(chosen.model.embeddings, chosen.model.d_model)
        if asked.start_from is not None and "tokenizer" in read_config(asked.start_from, self.recipe.model_kind):
            raise UserError(
                f"{asked.start_from} holds an imported model; only those that Pellucid has trained can be trained on",
                where=f"--from {asked.start_from}",
                hint="Leave --from out: a model of your own begins with the text you give.",
            )
        vocab_size, averaged = chosen.tokenizer.vocab_size or 0, chosen.training.average_decay is not None
        check_fits(chosen.model, (vocab_size, vocab_size), averaged, asked.device)

    def prepare_pairs(self, asked: Asked[LanguageModelRecipe], folder: Path) -> None:
        kept = load_tokenizer(asked.start_from / "tokenizer.json") if asked.start_from else None
        prepare_text(asked.sources, folder, asked.recipe, valid=asked.valid, tokenizer=kept, log=asked.log)

    def read(self, folder: Path, recipe: LanguageModelRecipe) -> PreparedText:
        return read_prepared_text(folder, recipe)

    def choose(self, asked: Asked[LanguageModelRecipe], prepared: PreparedText, seconds: float) -> LanguageModelRecipe:
        recipe, said = adapt_language_model(asked, prepared, seconds)
        for line in said:
            asked.log(line)
        return recipe

    def write_head(
        self, asked: Asked[LanguageModelRecipe], recipe: LanguageModelRecipe, prepared: PreparedText
    ) -> None:
        folder = asked.folder
        if cut := prepared.train.cut_prompts:
            asked.log(
                f"{pluralize(cut, 'document')} with a prompt longer than the context, {prepared.train.context:,} tokens: "
                "what does not fit is learnt without the prompt; --model.max_positions sets the context"
            )
        prepared.tokenizer.save(folder / "tokenizer.json")
        write_json(folder / "generation_config.json", recipe.generation.model_dump())
        write_json(folder / "report.json", {"data": prepared.report})
        fields: dict[str, Any] = {
            "model": recipe.model.model_dump(),
            "vocab_size": prepared.tokenizer.vocab_size,
            "pad_id": prepared.tokenizer.pad_id,
            "begun_with": asked.begun,
            "recipe": recipe.model_dump(),
        }
        write_config(folder, "language-model", fields)

    def model(self, recipe: LanguageModelRecipe, prepared: PreparedText, device: torch.device) -> DecoderOnly:
        size = prepared.tokenizer.vocab_size
        check_fits(recipe.model, (size, size), recipe.training.average_decay is not None, device)
        return DecoderOnly(recipe.model, size, prepared.tokenizer.pad_id)

    def first_weights(
        self, asked: Asked[LanguageModelRecipe], recipe: LanguageModelRecipe, prepared: PreparedText, model: DecoderOnly
    ) -> None:
        if asked.start_from:
            config = read_config(asked.start_from, "language-model")
            model.load_state_dict(load_decoder_only(config, asked.start_from / "model.safetensors").state_dict())
            return
        init_weights(model, recipe.training.seed, recipe.initialise.residual_scale)
        if recipe.model.embeddings is None:
            return
        vectors, tokenizer = open_vectors(recipe.model.embeddings, recipe.model.d_model), prepared.tokenizer
        learnt = prepared.train.ids[prepared.train.ids >= 0]
        counts = count_ids(learnt, tokenizer.vocab_size)
        rows = EmbeddingMatrix("embedding", "text", model.embedding.weight, tokenizer, counts)
        init_embeddings([rows], vectors, asked.folder / DATA, asked.log)

    def task(
        self, recipe: LanguageModelRecipe, prepared: PreparedText, model: DecoderOnly, folder: Path
    ) -> LanguageModelTask:
        return LanguageModelTask(recipe.training, recipe.generation, model, prepared)

    def check_same_text(self, asked: Asked[LanguageModelRecipe], prepared: PreparedText) -> None:
        say_what_is_not_read(asked, prepared.report)

    def freeze(
        self, recipe: LanguageModelRecipe, model: DecoderOnly, optimizer: torch.optim.Optimizer, folder: Path
    ) -> None:
        if recipe.model.freeze_embeddings and recipe.model.embeddings is not None:
            freeze_rows(model, optimizer, read_matched_rows(folder / DATA))

    def fitting_tokens(self, recipe: LanguageModelRecipe, dtype: torch.dtype, device: torch.device) -> int:
        training, context = recipe.training, recipe.model.max_positions
        return fit_micro_batch(recipe.model, training.batch_tokens, context, dtype, device)

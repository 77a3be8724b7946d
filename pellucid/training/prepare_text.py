"""From the user's files to what a language model trains on: checked, held out, cut into tokens, and put on disk."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.corpus.doctor.document_examination import DocumentExamination, examine_documents
from pellucid.corpus.document_splitting import HeldOutDocuments, hold_out_documents
from pellucid.corpus.documents import Document
from pellucid.errors import UserError
from pellucid.plurals import pluralize
from pellucid.storage.files import atomic_folder
from pellucid.storage.model_folder import read_json, write_json
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.tokenizers.tokenizer_file import load_tokenizer
from pellucid.tokenizers.training import train_tokenizer
from pellucid.tokenizers.vocabulary_size import choose_vocab_size_for_bytes
from pellucid.training.document_dataset import DocumentDataset, write_documents
from pellucid.training.prepare_pairs import restart_hint
from pellucid.training.recipe import LanguageModelRecipe

__all__ = ["PreparedText", "prepare_text", "read_prepared_text"]

Log = Callable[[str], None]


@dataclass(frozen=True)
class PreparedText:
    """What a run trains on and is validated with.

    Attributes:
        tokenizer: of both.
        train, valid: ids on disk; `valid` may be empty.
        tokens_a_byte: that are predicted, of a byte of the validation text in UTF-8; 0 if there is none.
        report: the examination's report, and what became of the documents after it.
    """

    tokenizer: Tokenizer
    train: DocumentDataset
    valid: DocumentDataset
    tokens_per_byte: float
    report: dict[str, Any]


def prepare_text(
    sources: Sequence[str | Path],
    folder: Path,
    recipe: LanguageModelRecipe,
    *,
    valid: Sequence[str | Path] = (),
    tokenizer: Tokenizer | None = None,
    log: Log = lambda text: None,
) -> None:
    """Check the text, hold documents out, train a tokenizer, write ids into `folder`.

    Args:
        sources: the user's files.
        folder: appears whole at the end, and not if anything fails.
        recipe: all settings.
        valid: files with validation text; held out from `sources` if none are given.
        tokenizer: of a model that is trained on; a new one is trained if none is given.
        talk: told what is going on.

    Raises:
        UserError: if the text would ruin the model, with the first findings, or nothing of it is left.
    """
    log("Examining the text …")
    given = examine_documents(valid, recipe.data) if valid else None
    if given is not None:
        _reject_unusable_text(given)
    examined = examine_documents(sources, recipe.data, given.documents if given is not None else None)
    for line in examined.report.summary_lines(shown=0):
        log(line)
    _reject_unusable_text(examined)
    split = _split(examined, given)
    report: dict[str, Any] = examined.report.as_dict()
    with atomic_folder(folder, replace=True) as made:
        if tokenizer is None:
            log(f"Training the tokenizer ({recipe.tokenizer.kind}) …")
            tokenizer = _trained_tokenizer(split.training, recipe)
        tokenizer.save(made / "tokenizer.json")
        written = write_documents(split.training(), made / "train", tokenizer)
        held = write_documents(split.valid(), made / "valid", tokenizer)
        train = DocumentDataset(made / "train", tokenizer, 1)
        held_out = DocumentDataset(made / "valid", tokenizer, 1)
        report |= {"pieces": tokenizer.vocab_size, "bytes": written.bytes, "tokens": len(train.ids)}
        report["validation"] = {
            "how": split.how,
            "files": [str(file) for file in valid],
            "documents": len(held_out.starts),
            "bytes": held.bytes,
            "tokens": len(held_out.ids),
            "predicted_tokens": held.predicted,
        }
        write_json(made / "report.json", report)
    log(
        f"{pluralize(len(train.starts), 'document')}, {pluralize(len(train.ids), 'token')} to train on; "
        + _said_of_validation(report["validation"])
    )


def read_prepared_text(folder: Path, recipe: LanguageModelRecipe) -> PreparedText:
    """Read what `prepare_text` left in `folder`.

    Raises:
        UserError: if a file is missing or damaged.
    """
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    context, crossing = recipe.model.max_positions, recipe.data.cross_documents
    train = DocumentDataset(folder / "train", tokenizer, context, crossing, recipe.training.seed)
    # Cut at the same places whatever the run's seed.
    valid = DocumentDataset(folder / "valid", tokenizer, context, crossing)
    report = read_json(folder / "report.json")
    for documents, expected in ((train, report["tokens"]), (valid, report["validation"]["tokens"])):
        _check_whole(folder, documents, expected)
    held = report["validation"]
    return PreparedText(tokenizer, train, valid, held["predicted_tokens"] / max(held["bytes"], 1), report)


def _check_whole(folder: Path, documents: DocumentDataset, expected: int) -> None:
    """Open the ids now, not in the middle of the run, and see that they are as many as were written."""
    place = documents.folder / "documents"
    try:
        found = len(documents.ids)
    except UserError as error:
        raise UserError(error.what, where=error.where, hint=restart_hint(folder)) from error
    if found != expected:
        raise UserError(
            f"the prepared text is damaged: expected {pluralize(expected, 'token')}, found {found:,}",
            where=str(place),
            hint=restart_hint(folder),
        )


def _reject_unusable_text(examined: DocumentExamination) -> None:
    errors = examined.report.errors
    if errors:
        first = errors[0]
        raise UserError(
            f"this text would ruin the model: {first.message}",
            where=[f"{problem.file}:{problem.line} {problem.check}" for problem in errors[:5]],
            hint=f"mend the files, or leave such documents out: --data.drop {first.check}"
            if first.check != "empty"
            else "give another text",
        )


def _split(examined: DocumentExamination, given: DocumentExamination | None) -> HeldOutDocuments:
    if given is not None:
        return HeldOutDocuments("given", given.documents, examined.documents)
    return hold_out_documents(examined.documents, examined.report.usable)


def _trained_tokenizer(documents: Callable[[], Iterator[Document]], recipe: LanguageModelRecipe) -> Tokenizer:
    config = recipe.tokenizer
    if config.vocab_size is None and config.kind in ("bpe", "unigram"):
        size = sum(len(text.encode("utf-8")) for text in _texts(documents()))
        config = config.model_copy(update={"vocab_size": choose_vocab_size_for_bytes(size)})
    return train_tokenizer(_texts(documents()), config)


def _texts(documents: Iterator[Document]) -> Iterator[str]:
    for document in documents:
        if document.prompt:
            yield document.prompt
        yield document.text


def _said_of_validation(found: dict[str, Any]) -> str:
    if not found["documents"]:
        return "none for validation: the text is too short for that"
    documents = pluralize(found["documents"], "document")
    return f"{documents}, {pluralize(found['tokens'], 'token')} for validation ({found['how']})"

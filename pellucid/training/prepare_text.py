"""Prepare text for training a language model: check, hold out, tokenize, and write to disk."""

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
from pellucid.tokenizers.training import choose_vocab_size_for_bytes, train_tokenizer
from pellucid.training.document_dataset import DocumentDataset, write_documents
from pellucid.training.prepare_pairs import restart_hint
from pellucid.training.recipe import LanguageModelRecipe
from pellucid.training.request import Log, ignore

__all__ = ["PreparedText", "prepare_text", "read_prepared_text"]


@dataclass(frozen=True)
class PreparedText:
    """The training and validation data of a language model.

    Attributes:
        tokenizer: of both.
        train, valid: ids on disk; `valid` may be empty.
        tokens_per_byte: predicted tokens per byte of the validation text in UTF-8; 0 if there is none.
        report: the doctor's report, and what happened to the documents after it.
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
    log: Log = ignore,
) -> None:
    """Check the text, hold out documents, train a tokenizer, and write ids to `folder`.

    Args:
        folder: written whole, or not at all if anything fails.
        valid: files with validation text; by default some documents of `sources` are held out.
        tokenizer: of the model to start from; by default a new one is trained.

    Raises:
        UserError: if the text has errors that the doctor rejects, or nothing of it is left.
    """
    log("Examining the text …")
    given = examine_documents(valid, recipe.data) if valid else None
    if given is not None:
        _reject_unusable_text(given)
    examined = examine_documents(sources, recipe.data, given.documents if given is not None else None, in_training=True)
    for line in examined.report.summary_lines(shown=0):
        log(line)
    _reject_unusable_text(examined)
    split = (
        HeldOutDocuments("given", given.documents, examined.documents)
        if given is not None
        else hold_out_documents(examined.documents, examined.report.usable)
    )
    report: dict[str, Any] = examined.report.as_dict()
    with atomic_folder(folder, replace=True) as temporary:
        if tokenizer is None:
            log(f"Training the tokenizer ({recipe.tokenizer.kind}) …")
            tokenizer = _train_tokenizer(split.training, recipe)
        tokenizer.save(temporary / "tokenizer.json")
        written = write_documents(split.training(), temporary / "train", tokenizer)
        held = write_documents(split.valid(), temporary / "valid", tokenizer)
        train = DocumentDataset(temporary / "train", tokenizer, 1)
        held_out = DocumentDataset(temporary / "valid", tokenizer, 1)
        report |= {"pieces": tokenizer.vocab_size, "bytes": written.bytes, "tokens": len(train.ids)}
        report["validation"] = {
            "how": split.how,
            "files": [str(file) for file in valid],
            "documents": len(held_out.starts),
            "bytes": held.bytes,
            "tokens": len(held_out.ids),
            "predicted_tokens": held.predicted,
        }
        write_json(temporary / "report.json", report)
    log(
        f"{pluralize(len(train.starts), 'document')} with {pluralize(len(train.ids), 'token')} for training, "
        + _describe_validation(report["validation"])
    )


def read_prepared_text(folder: Path, recipe: LanguageModelRecipe) -> PreparedText:
    """Read what `prepare_text` wrote to `folder`.

    Raises:
        UserError: if a file is missing or damaged.
    """
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    context, crossing = recipe.model.max_positions, recipe.data.cross_documents
    train = DocumentDataset(folder / "train", tokenizer, context, crossing, recipe.training.seed)
    # Without the seed of the run: validation documents are always cut at the same positions.
    valid = DocumentDataset(folder / "valid", tokenizer, context, crossing)
    report = read_json(folder / "report.json")
    for documents, expected in ((train, report["tokens"]), (valid, report["validation"]["tokens"])):
        _check_whole(folder, documents, expected)
    held = report["validation"]
    return PreparedText(tokenizer, train, valid, held["predicted_tokens"] / max(held["bytes"], 1), report)


def _check_whole(folder: Path, documents: DocumentDataset, expected: int) -> None:
    """Open the ids now rather than in the middle of the run, and check that none is missing."""
    try:
        found = len(documents.ids)
    except UserError as error:
        raise UserError(error.what, where=error.where, hint=restart_hint(folder)) from error
    if found != expected:
        raise UserError(
            f"the prepared text is damaged: expected {pluralize(expected, 'token')}, found {found:,}",
            where=str(documents.folder / "documents"),
            hint=restart_hint(folder),
        )


def _reject_unusable_text(examined: DocumentExamination) -> None:
    errors = examined.report.errors
    if errors:
        first = errors[0]
        raise UserError(
            f"training refused: {first.message}",
            where=[f"{problem.file}:{problem.line} {problem.check}" for problem in errors[:5]],
            hint=f"Fix the files, or drop such documents with --data.drop {first.check}."
            if first.check != "empty"
            else "Pass another text.",
        )


def _train_tokenizer(documents: Callable[[], Iterator[Document]], recipe: LanguageModelRecipe) -> Tokenizer:
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


def _describe_validation(split: dict[str, Any]) -> str:
    if not split["documents"]:
        return "none for validation: the text is too short"
    documents = pluralize(split["documents"], "document")
    return f"{documents} with {pluralize(split['tokens'], 'token')} for validation ({split['how']})"

"""`pellucid evaluate` of a language model: perplexity and bits per byte."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.documents import TextOptions, usable_documents
from pellucid.cli.flags import ModelFlags
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.evaluation.perplexity import TextLoss

__all__ = ["evaluate_texts"]


def evaluate_texts(
    folder: Path,
    files: Sequence[Path],
    compare: Path | None,
    options: TextOptions,
    as_json: bool,
    flags: ModelFlags,
) -> None:
    """Print how well a model, and perhaps a second one, predicts the documents of the files."""
    if not files:
        raise UsageError("no text was given", where="pellucid evaluate", hint="Name text files or .jsonl files.")
    found = _measured(folder, files, options, flags)
    result: dict[str, Any] = found.as_dict()
    other = None if compare is None else _measured(compare, files, options, flags)
    if other is not None:
        result["compare"] = {"model": str(compare), **other.as_dict()}
    if as_json:
        console.data_json(result)
        return
    for name, one in ((folder, found), (compare, other)):
        if one is not None:
            place = f"{name}: " if other is not None else ""
            console.data(
                f"{place}loss {one.loss:.4f} nats a token, perplexity {one.perplexity:.3f}, "
                f"{one.bits_per_byte:.4f} bits a byte"
            )
            console.log(_how(one))
    if other is not None:
        console.log("Of two models with different tokenizers only the bits a byte can be compared.")


def _measured(folder: Path, files: Sequence[Path], options: TextOptions, flags: ModelFlags) -> "TextLoss":
    from pellucid.evaluation.perplexity import measure_texts
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    with console.progress("Measuring", unit="tokens") as bar:
        documents = usable_documents(files, options)
        return measure_texts(model, documents, stride=options.stride, on_progress=bar.advance)


def _how(found: "TextLoss") -> str:
    ends = "their ends counted as tokens" if found.ends else "their ends not counted"
    return (
        f"{pluralize(found.documents, 'document')}, {ends}; {pluralize(found.tokens, 'token')}, {found.bytes:,} bytes; "
        f"windows of {found.context:,} tokens, {found.stride:,} apart: beyond the first, each token is predicted from "
        f"{found.context - found.stride + 1:,} to {found.context:,} before it"
    )

"""`pellucid score` of a language model: how probable it finds texts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.cli import console
from pellucid.cli.documents import TextOptions, usable_documents
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.generation.text_score import TextScore
    from pellucid.language_model import LanguageModel

__all__ = ["score_texts"]


def score_texts(
    model: "LanguageModel",
    files: Sequence[Path],
    text: str | None,
    given: str,
    options: TextOptions,
) -> "Iterator[TextScore]":
    """Yield the score of each document of the files, or of the text; print their sum at the end."""
    if bool(files) == (text is not None):
        raise UsageError(
            "expected either files or --text", where="pellucid score", hint="Name text files, or pass --text TEXT."
        )
    if given and text is None:
        raise UsageError(
            "--given needs --text", where="--given", hint="Pass --text too, or give prompts in a .jsonl file."
        )
    from pellucid.evaluation import perplexity

    found = (
        perplexity.score_texts(model, usable_documents(files, options), stride=options.stride)
        if text is None
        else iter([model.score(text, given, stride=options.stride)])
    )
    total, tokens, count = 0.0, 0, 0
    with console.progress("Scoring", unit="documents") as bar:
        for one in found:
            yield one
            count, total, tokens = count + 1, total + one.total, tokens + len(one.tokens)
            bar.advance()
    if tokens:
        ends = "end tokens included" if text is None and perplexity.scores_end_tokens(model) else "no end token"
        console.log(
            f"{pluralize(count, 'text')}, {pluralize(tokens, 'token')}, {ends}: {-total / tokens:.4f} nats a token"
        )

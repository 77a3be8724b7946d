"""`pellucid score`: the log-probability of given translations or texts."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags, TextArgument
from pellucid.cli.inputs import DEFAULT_TEXTS, MODEL_FILES_HELP, TextOptions, no_pairs_error, usable_documents
from pellucid.corpus.reading import read_valid_pairs
from pellucid.errors import UsageError
from pellucid.plurals import pluralize
from pellucid.storage.model_folder import read_config

if TYPE_CHECKING:
    from pellucid.generation.text_score import TextScore
    from pellucid.language_model import LanguageModel

__all__ = ["score"]

_CHUNK = 2_000  # pairs in memory at once


def score(
    folder: Path,
    /,
    *files: Annotated[Path, Parameter(help=MODEL_FILES_HELP)],
    text: TextArgument[str | None] = None,
    given: TextArgument[str] = "",
    source_lang: str | None = None,
    target_lang: str | None = None,
    as_json: JsonSwitch = False,
    texts: TextOptions = DEFAULT_TEXTS,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Compute the log-probability of given translations or texts.

    Prints one line for each: the sum of the natural logarithms of its token probabilities. The end token counts for
    translations and documents, but not for --text, nor for imported models, which have not learned where documents end.

    Args:
        folder: Folder of the model.
        text: Score this text with a language model, instead of files.
        given: Text that precedes --text and is not scored.
        source_lang: Code of the source language, for files with several; the model's by default.
        target_lang: Code of the target language, for files with several; the model's by default.
        as_json: Print one JSON list with an object per pair or document: total, and for each token id, text and
            log_prob.
    """
    kind = read_config(folder)["kind"]
    if kind == "language-model":
        from pellucid.evaluation.perplexity import scores_end_tokens
        from pellucid.language_model import LanguageModel

        model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
        ends = "end tokens included" if text is None and scores_end_tokens(model) else "no end token"
        _print(_text_scores(model, files, text, given, texts), as_json, "text", f", {ends}")
        return
    if text is not None or given:
        raise UsageError(
            "--text and --given are for language models", where="pellucid score", hint="Put the pair into a file."
        )
    if not files:
        raise no_pairs_error("score")
    _print(_pair_scores(folder, files, source_lang, target_lang, flags), as_json, "pair")


def _pair_scores(
    folder: Path, files: Sequence[Path], source_lang: str | None, target_lang: str | None, flags: ModelFlags
) -> "Iterator[TextScore]":
    """Yield the scores of the pairs in the files."""
    from pellucid.evaluation.pair_scores import score_pairs
    from pellucid.translator import Translator

    translator = Translator.load(folder, device=flags.device, precision=flags.precision)
    source_lang = source_lang or translator.source_language
    target_lang = target_lang or translator.target_language
    pairs = read_valid_pairs(files, source_lang, target_lang)
    while chunk := list(islice(pairs, _CHUNK)):
        locations = [(pair.source_location, pair.target_location) for pair in chunk]
        yield from score_pairs(translator, [(pair.source, pair.target) for pair in chunk], locations=locations)


def _text_scores(
    model: "LanguageModel",
    files: Sequence[Path],
    text: str | None,
    given: str,
    options: TextOptions,
) -> "Iterator[TextScore]":
    """Yield the score of each document of the files, or of the text."""
    if bool(files) == (text is not None):
        raise UsageError(
            "expected either files or --text", where="pellucid score", hint="Name text files, or pass --text TEXT."
        )
    if given and text is None:
        raise UsageError(
            "--given needs --text", where="--given", hint="Pass --text too, or give prompts in a .jsonl file."
        )
    from pellucid.evaluation.perplexity import score_texts

    if text is None:
        yield from score_texts(model, usable_documents(files, options), stride=options.stride)
    else:
        yield model.score(text, given, stride=options.stride)


def _print(scores: "Iterator[TextScore]", as_json: bool, noun: str, ends: str = "") -> None:
    """Print scores as they come, and their mean at the end."""
    total, tokens, count = 0.0, 0, 0
    with console.progress("Scoring", unit=f"{noun}s") as bar:
        for count, found in enumerate(scores, 1):
            if as_json:
                console.data(("[" if count == 1 else ", ") + console.format_json(found.as_dict()))
            else:
                console.data(f"{found.total:.4f}")
            total, tokens = total + found.total, tokens + len(found.tokens)
            bar.advance()
    if tokens:
        console.log(f"{pluralize(count, noun)}, {pluralize(tokens, 'token')}{ends}: {-total / tokens:.4f} nats a token")
    if as_json:
        console.data("]" if count else "[]")

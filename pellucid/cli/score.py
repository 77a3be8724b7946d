"""`pellucid score`: how probable a model finds given translations."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.pairs import usable_pairs
from pellucid.corpus.counts import counted
from pellucid.errors import UsageError

__all__ = ["score"]

_CHUNK = 2_000  # pairs in memory at once


def score(
    folder: Path,
    /,
    *files: Path,
    source_lang: str | None = None,
    target_lang: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Give the log-probability of given translations: a line a pair, natural logarithm, the end token included.

    Args:
        folder: Folder of the model.
        files: A .tsv, .tmx or .jsonl file of pairs, or two aligned text files, source first.
        source_lang: Code of the source language, where a file has several; the model's unless given.
        target_lang: Code of the target language.
        as_json: Print one JSON list with an object a pair: total, and for each token id, text and log_prob.
    """
    if not files:
        raise UsageError("no pairs were given", hint="Name a .tsv, .tmx or .jsonl file, or two aligned text files.")
    from pellucid.evaluation.scoring import PairScore, score_pairs
    from pellucid.generation.load import load_translator

    translator = load_translator(folder, device=flags.device, precision=flags.precision)
    pairs = usable_pairs(files, source_lang or translator.source_language, target_lang or translator.target_language)
    total, tokens, count = 0.0, 0, 0

    def scores() -> Iterator[PairScore]:
        with console.progress("Scoring", unit="pairs") as bar:
            while chunk := list(islice(pairs, _CHUNK)):
                places = [(pair.source_place, pair.target_place) for pair in chunk]
                yield from score_pairs(translator, [(pair.source, pair.target) for pair in chunk], places=places)
                bar.advance(len(chunk))

    for found in scores():
        if as_json:
            console.data((", " if count else "[") + _dumped(found.as_dict()))
        else:
            console.data(f"{found.total:.4f}")
        count, total, tokens = count + 1, total + found.total, tokens + len(found.tokens)
    if as_json:
        console.data("]" if count else "[]")
    elif tokens:
        console.say(f"{counted(count, 'pair')}, {counted(tokens, 'token')}: {-total / tokens:.4f} nats a token")


def _dumped(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False)

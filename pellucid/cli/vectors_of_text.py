"""`pellucid vectors stability`, `neighbours` and `map`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, ShownJsonSwitch, ShownSwitch
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt
from pellucid.cli.vector_files import (
    DEFAULT_FILE,
    DEFAULT_VECTOR_FLAGS,
    FileOptions,
    Number,
    VectorFlags,
    Words,
    escape_field,
    open_vectors,
    split_pair,
    total_size,
)
from pellucid.errors import UsageError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pellucid.word_vectors import KeyedVectors

__all__ = ["neighbours", "stability", "vector_map"]

_FEW_RUNS = 20


def stability(
    *text: Path,
    words: Words = None,
    pairs: Words = None,
    x: Words = None,
    y: Words = None,
    a: Words = None,
    b: Words = None,
    runs: int = 25,
    number: Number = 10,
    documents: Literal["auto", "files", "blocks", "lines"] = "auto",
    confidence: float = 0.95,
    as_json: ShownJsonSwitch = False,
    settings: Annotated[VectorFlags, Parameter(name="*")] = DEFAULT_VECTOR_FLAGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Measure the stability of neighbours and scores over many trainings.

    Each training uses a bootstrap sample of the documents. Prints one line per neighbour: query word, neighbour, mean
    cosine, the bounds of its interval, and the share of the runs in which it was among the nearest; and one line per
    score: name, mean and bounds. Ctrl-C stops after the current training and reports the intervals so far.

    Args:
        text: Text files, as in `pellucid train vectors`.
        words: Words whose neighbours are of interest.
        pairs: Pairs whose cosine is of interest, such as king:queen.
        x: First group of target words of WEAT, as in `pellucid vectors bias`.
        y: Second group of target words.
        a: First group of attribute words.
        b: Second group of attribute words.
        runs: Number of trainings.
        number: Number of neighbours.
        documents: What is sampled: files, blocks between blank lines, or lines; auto takes the first with at least 20.
        confidence: Share of the runs between the bounds.
        as_json: Print one JSON object.
    """
    where = "pellucid vectors stability"
    if not text:
        raise UsageError("no text given", where=where, hint="Name the files to train on.")
    groups = (x, y, a, b)
    if any(groups) and not all(groups):
        raise UsageError("WEAT needs four groups of words", where=where, hint="Pass all of --x --y --a --b.")
    if not words and not pairs and not any(groups):
        hint = "Pass --words freedom, --pairs king:queen, or the groups --x --y --a --b."
        raise UsageError("no words and no scores of interest", where=where, hint=hint)
    from pellucid.word_vectors.stability import measure_stability

    measures = _cosines(pairs or [])
    if any(groups):
        measures["WEAT"] = partial(_weat, groups=[group or [] for group in groups])
    stop = Interrupt("Stopping after this training; the intervals so far are reported")
    with stop.handled(), console.progress("Training", runs, "runs") as bar:

        def on_run(run: int) -> bool:
            bar.advance()
            stop.deferred = run >= 1  # two runs give intervals
            return stop.requested

        found = measure_stability(
            list(text),
            words or [],
            runs=runs,
            n=number,
            measures=measures,
            documents=documents,
            confidence=confidence,
            threads=flags.threads,
            on_run=on_run,
            **settings.given(),
        )
    console.log(f"{found.runs} trainings on bootstrap samples of {found.documents:,} {found.unit}")
    if found.runs < _FEW_RUNS:
        console.warn(f"{found.runs} runs give rough bounds: {confidence:.0%} intervals need {_FEW_RUNS} runs or more")
    if as_json:
        console.data_json(found.as_dict())
        return EXIT_INTERRUPTED if stop.requested else 0
    if found.neighbours:
        console.log(f"word, neighbour, mean cosine, {confidence:.0%} interval from, to, share of the runs:")
    for word, near in found.neighbours.items():
        for one in near:
            mean, low, high = one.cosine
            console.data(
                f"{escape_field(word)}\t{escape_field(one.word)}\t{mean:.3f}\t{low:.3f}\t{high:.3f}\t{one.share:.0%}"
            )
    if found.measures:
        console.log(f"score, mean, {confidence:.0%} interval from, to:")
    for name, (mean, low, high) in found.measures.items():
        console.data(f"{name}\t{mean:.3f}\t{low:.3f}\t{high:.3f}")
    return EXIT_INTERRUPTED if stop.requested else 0


def neighbours(
    vectors: Path,
    word: str,
    /,
    *,
    corpus: Annotated[list[Path], Parameter(negative="", consume_multiple=True)],
    number: Number = 10,
    examples: int = 3,
    tokenizer: str | None = None,
    lowercase: bool | None = None,
    as_json: ShownJsonSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find a word's neighbours and sentences that contain them.

    Prints one line per neighbour: word, cosine, number of sentences that contain it, and number of those that also
    contain the query word; below it, indented, some of these sentences, first those with both words, marked with *.

    Args:
        vectors: Folder or file of word vectors.
        word: The query word.
        corpus: Text files, usually those that the vectors were trained on.
        number: Number of neighbours.
        examples: Maximum number of sentences per neighbour.
        tokenizer: How lines are split; as in the training by default.
        lowercase: Whether to convert the text to lower case; as in the training by default.
        as_json: Print one JSON object: word, neighbours (word, score, sentences, shared, examples).
    """
    from pellucid.word_vectors.concordance import find_neighbours_in_text

    opened = open_vectors(vectors, file)
    with console.progress("Reading", total_size(corpus), "bytes") as bar:
        found = find_neighbours_in_text(
            opened,
            word,
            corpus,
            number,
            examples=examples,
            tokenizer=tokenizer,
            lowercase=lowercase,
            on_progress=bar.advance,
        )
    if not any(one.sentences for one in found):
        console.warn("none of the neighbours occurs in this text: is --tokenizer right?")
    if as_json:
        console.data_json({"word": word, "neighbours": [one.as_dict() for one in found]})
        return
    console.log(f"neighbour, cosine, sentences, sentences that also contain {word} (marked *):")
    for one in found:
        console.data(f"{escape_field(one.word)}\t{one.score:.4f}\t{one.sentences}\t{one.shared}")
        for line in one.examples:
            console.data(f"  {'*' if line.shared else ' '} {line.file}:{line.line}\t{line.text}")


def vector_map(
    vectors: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    points: int = 10_000,
    method: Literal["pca", "umap"] = "pca",
    seed: int = 1,
    overwrite: ShownSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Write a map of words as an HTML page.

    Shows the most frequent words on a self-contained page, in English and Chinese.

    Args:
        vectors: Folder or file of word vectors.
        output: The page, such as map.html.
        points: Number of words, at most 50,000.
        method: pca, or umap (an extra).
        seed: Seed of umap.
        overwrite: Replace an existing file.
    """
    if output.is_file() and not overwrite:
        raise UserError(
            f"{output} already exists",
            where=str(output),
            hint="Add `--overwrite` to replace it, or choose another file.",
        )
    from pellucid.storage.files import write_text
    from pellucid.word_vectors.vector_map import build_map, render_map

    opened = open_vectors(vectors, file)
    with console.progress("Finding neighbours", min(points, len(opened)), "words") as bar:
        built = build_map(opened, points=points, method=method, seed=seed, on_progress=bar.advance)
    write_text(output, render_map(built, vectors.name or str(vectors)))
    console.log(f"{output}: {len(built.words):,} words; open it in a browser")


def _cosines(pairs: list[str]) -> dict[str, Callable[[KeyedVectors], float]]:
    def cosine_of(first: str, second: str) -> Callable[[KeyedVectors], float]:
        return lambda vectors: vectors.similarity(first, second)

    return {pair: cosine_of(*split_pair(pair)) for pair in pairs}


def _weat(vectors: KeyedVectors, groups: list[list[str]]) -> float:
    from pellucid.word_vectors.bias import weat

    x, y, a, b = groups
    return weat(vectors, x, y, a, b, permutations=1).effect_size

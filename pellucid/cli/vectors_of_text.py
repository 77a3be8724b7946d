"""`pellucid vectors stability`, `neighbours`, `map`: how far to trust vectors, where they come from, how they lie."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt
from pellucid.cli.vector_files import DEFAULT_FILE, FileOptions, escape_field, open_vectors, total_size
from pellucid.cli.vector_settings import DEFAULT_SETTINGS, VectorSettings
from pellucid.errors import UsageError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pellucid.vectors import WordVectors

__all__ = ["neighbours", "stability", "vector_map"]

_FEW_RUNS = 20

_Json = Annotated[bool, Parameter(name="--json", negative="")]
_Words = Annotated[list[str] | None, Parameter(negative="", consume_multiple=True)]
_Number = Annotated[int, Parameter(name=["--number", "-n"])]


def stability(
    *text: Path,
    words: _Words = None,
    pairs: _Words = None,
    x: _Words = None,
    y: _Words = None,
    a: _Words = None,
    b: _Words = None,
    runs: int = 25,
    number: _Number = 10,
    documents: Literal["auto", "files", "blocks", "lines"] = "auto",
    confidence: float = 0.95,
    as_json: _Json = False,
    settings: VectorSettings = DEFAULT_SETTINGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train on many resamples of a text's documents, and give neighbours, cosines and WEAT with intervals.

    A line a neighbour: the word asked about, the neighbour, its mean cosine, the bounds of the interval, and the share
    of the runs in which it was among the nearest. A line a score: its name, mean, bounds. Ctrl-C stops after the
    training under way and gives the intervals of those so far.

    Args:
        text: Files of text, as for `pellucid train vectors`.
        words: Words whose neighbours are asked for.
        pairs: Pairs whose cosine is asked for, as king:queen.
        x: First group of target words of WEAT, as for `pellucid vectors bias`.
        y: Second group of target words.
        a: First group of attribute words.
        b: Second group of attribute words.
        runs: How many trainings.
        number: How many neighbours.
        documents: What is drawn: files, blocks between blank lines, or lines; the first that gives 20 unless given.
        confidence: Share of the runs between the bounds.
        as_json: Print one JSON object.
    """
    where = "pellucid vectors stability"
    if not text:
        raise UsageError("no text was given", where=where, hint="Name the files to train on.")
    groups = (x, y, a, b)
    if any(groups) and not all(groups):
        raise UsageError("WEAT takes four groups of words", where=where, hint="Give all of --x --y --a --b.")
    if not words and not pairs and not any(groups):
        hint = "Give --words freedom, --pairs king:queen, or the groups --x --y --a --b."
        raise UsageError("nothing is asked about", where=where, hint=hint)
    from pellucid.word_vectors.stability import stability as stability_of

    measures = _cosines(pairs or [])
    if any(groups):
        measures["WEAT"] = partial(_weat, groups=[group or [] for group in groups])
    stop = Interrupt("Stopping after this training, with the intervals of those so far")
    with stop.handled(), console.progress("Training", runs, "runs") as bar:

        def count(run: int) -> bool:
            bar.advance()
            stop.deferred = run >= 1  # a second one gives intervals
            return stop.requested

        found = stability_of(
            list(text),
            words or [],
            runs=runs,
            n=number,
            measures=measures,
            documents=documents,
            confidence=confidence,
            threads=flags.threads,
            on_run=count,
            **settings.given(),
        )
    console.log(f"{found.runs} trainings on as many resamples of {found.documents:,} {found.document}")
    if found.runs < _FEW_RUNS:
        console.warn(f"the bounds of {found.runs} runs are rough: {confidence:.0%} intervals want {_FEW_RUNS} or more")
    if as_json:
        console.data_json(found.as_dict())
        return EXIT_INTERRUPTED if stop.requested else 0
    if found.neighbours:
        console.log(f"word, neighbour, mean cosine, {confidence:.0%} from, to, share of the runs that have it as such:")
    for word, near in found.neighbours.items():
        for one in near:
            mean, low, high = one.cosine
            console.data(
                f"{escape_field(word)}\t{escape_field(one.word)}\t{mean:.3f}\t{low:.3f}\t{high:.3f}\t{one.among:.0%}"
            )
    if found.measures:
        console.log(f"score, mean, {confidence:.0%} from, to:")
    for name, (mean, low, high) in found.measures.items():
        console.data(f"{name}\t{mean:.3f}\t{low:.3f}\t{high:.3f}")
    return EXIT_INTERRUPTED if stop.requested else 0


def neighbours(
    vectors: Path,
    word: str,
    /,
    *,
    corpus: Annotated[list[Path], Parameter(negative="", consume_multiple=True)],
    number: _Number = 10,
    examples: int = 3,
    tokenizer: str | None = None,
    lowercase: bool | None = None,
    as_json: _Json = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find a word's neighbours, and sentences of the text where they stand, by file and line.

    A line a neighbour: word, cosine, in how many sentences it stands, how many of these hold the word asked about, too;
    below it, indented, some of the sentences, those with both words first, marked with *.

    Args:
        vectors: Folder or file of word vectors.
        word: The word to ask about.
        corpus: Files of text, as a rule those that the vectors were trained on.
        number: How many neighbours.
        examples: How many sentences each gets, at most.
        tokenizer: How lines come apart; as in the training unless given.
        lowercase: Whether capitals become small letters; as in the training unless given.
        as_json: Print one JSON object: word, neighbours (word, score, sentences, shared, places).
    """
    from dataclasses import asdict

    from pellucid.word_vectors.concordance import find_neighbours_in_text

    asked = open_vectors(vectors, file)
    with console.progress("Reading", total_size(corpus), "bytes") as bar:
        found = find_neighbours_in_text(
            asked,
            word,
            corpus,
            number,
            examples=examples,
            tokenizer=tokenizer,
            lowercase=lowercase,
            on_progress=bar.advance,
        )
    if not any(one.sentences for one in found):
        console.warn("none of the neighbours stands in this text; is it cut by the right --tokenizer?")
    if as_json:
        records = [{**asdict(one), "places": [place._asdict() for place in one.places]} for one in found]
        console.data_json({"word": word, "neighbours": records})
        return
    console.log(f"neighbour, cosine, sentences with it, those with {word}, too (marked *):")
    for one in found:
        console.data(f"{escape_field(one.word)}\t{one.score:.4f}\t{one.sentences}\t{one.shared}")
        for place in one.places:
            console.data(f"  {'*' if place.shared else ' '} {place.file}:{place.line}\t{place.text}")


def vector_map(
    vectors: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    points: int = 10_000,
    method: Literal["pca", "umap"] = "pca",
    seed: int = 1,
    overwrite: Annotated[bool, Parameter(negative="")] = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Draw the most frequent words as a map: one HTML page that needs nothing else, in English and Chinese.

    Args:
        vectors: Folder or file of word vectors.
        output: The page, as map.html.
        points: How many words, at most 50,000.
        method: pca, or umap (an extra).
        seed: Seed of umap.
        overwrite: Replace the file.
    """
    if output.is_file() and not overwrite:
        raise UserError(
            f"{output} exists already", where=str(output), hint="Add `--overwrite` to replace it, or name another file."
        )
    from pellucid.storage.files import write_text
    from pellucid.word_vectors.vector_map import build_map, render_map

    asked = open_vectors(vectors, file)
    with console.progress("Finding neighbours", min(points, len(asked)), "words") as bar:
        drawn = build_map(asked, points=points, method=method, seed=seed, on_progress=bar.advance)
    write_text(output, render_map(drawn, vectors.name or str(vectors)))
    console.log(f"{output}: {len(drawn.words):,} words; open it in a browser")


def _cosines(pairs: list[str]) -> dict[str, Callable[[WordVectors], float]]:
    measures: dict[str, Callable[[WordVectors], float]] = {}
    for pair in pairs:
        words = pair.split(":")
        if len(words) != 2:
            raise UsageError(f"expected a pair such as king:queen, got {pair}", where="--pairs")
        measures[pair] = partial(_cosine, one=words[0], other=words[1])
    return measures


def _cosine(vectors: WordVectors, one: str, other: str) -> float:
    return vectors.similarity(one, other)


def _weat(vectors: WordVectors, groups: list[list[str]]) -> float:
    x, y, a, b = groups
    return vectors.weat(x, y, a, b, permutations=1).effect_size

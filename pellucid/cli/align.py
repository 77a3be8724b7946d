"""`pellucid align`: which word translates which, in every pair of a parallel text, by counting alone."""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import numpy
from cyclopts import Parameter
from numpy.typing import NDArray

from pellucid.alignment.aligner import Lexicon, fit_lexicon
from pellucid.alignment.lexicon import Link
from pellucid.alignment.symmetrisation import SYMMETRISATIONS
from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.corpus.raw_pairs import Issue, RawPair
from pellucid.corpus.reading import read_pairs
from pellucid.corpus.words import is_unspaced, split_words
from pellucid.errors import UsageError, UserError
from pellucid.plurals import pluralize
from pellucid.storage.files import atomic_file

__all__ = ["AlignOptions", "align"]

_AUTO_FIXED = {"bom", "line-separator"}  # faults that the reader has mended already
_CHUNK = 500  # pairs aligned and written at a time
_LEAST = 0.01  # probability of an entry of the lexicon that is written


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """What to align, and how."""

    source_lang: str | None = None
    """Code of the source language, where a file has several."""

    target_lang: str | None = None
    """Code of the target language."""

    symmetrise: Literal["grow-diag-final-and", "intersection", "union", "forward", "backward"] = "grow-diag-final-and"
    """How the two directions are made one: intersection is the most precise, union has the most links; forward and
    backward are one direction alone (forward: a source word for each target word)."""

    iterations: int = 5
    """Iterations of expectation maximisation."""

    tension: float = 6.0
    """How strongly links near the diagonal are preferred; 0 is not at all."""


DEFAULT_OPTIONS = AlignOptions()


def align(
    *sources: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    lexicon: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    options: AlignOptions = DEFAULT_OPTIONS,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Align the words of parallel text: for each pair a line of links, as in 0-0 1-2 2-1.

    A link is SOURCE-TARGET, positions of words from 0 on. Words are runs of letters or digits and single punctuation
    marks, upper and lower case alike; in scripts without spaces (Chinese, Japanese, Thai …) single characters. --json
    gives the words. A pair with a blank side has an empty line, so that lines stay in step with the input.

    Args:
        sources: A .tsv, .tmx or .jsonl file of pairs, or two aligned text files.
        output: Where the alignment is written; stdout unless given.
        lexicon: Where to write the words' translations as tab-separated lines: source word, target word,
            p(target | source), p(source | target); the most frequent source word first.
        as_json: Write one JSON object with the keys tokens (what the words of each side are), symmetrisation, pairs,
            blank, log_likelihood (nats a word, by direction) and alignments (source, target, links).
    """
    _check(sources, (output, lexicon), options)
    text = _read(sources, options)
    forward, backward = _fit(text, options)
    if lexicon is not None:
        _write_lexicon(lexicon, text, forward, backward)
    links = _links(text, forward, backward, options.symmetrise)
    lines = _json_lines(sources, text, forward, backward, links, options) if as_json else map(_pharaoh, links)
    _write(output, lines)


class _Side:
    """The sentences of one side as ids of words in lower case: one flat array and where each sentence ends in it."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.ids = array("i")
        self.ends = array("q", [0])

    def append(self, text: str) -> None:
        number = self.number
        self.ids.extend(number.setdefault(word.casefold(), len(number)) for word in split_words(text))
        self.ends.append(len(self.ids))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, index: int) -> NDArray[numpy.int32]:
        start, end = self.ends[index], self.ends[index + 1]
        return numpy.frombuffer(self.ids, numpy.int32, end - start, 4 * start) if end > start else _NO_IDS

    def unit(self) -> str:
        """Say what most of the words are: `characters` of a script without spaces, or `words`."""
        counts = numpy.bincount(numpy.frombuffer(self.ids, numpy.int32) if len(self.ids) else _NO_IDS)
        letters = [
            (count, is_unspaced(word)) for word, count in zip(self.number, counts, strict=True) if word.isalpha()
        ]
        single = sum(count for count, unspaced in letters if unspaced)
        return "characters" if 2 * single > sum(count for count, _ in letters) else "words"


_NO_IDS: NDArray[numpy.int32] = numpy.zeros(0, numpy.int32)


@dataclass(frozen=True)
class _Text:
    source: _Side
    target: _Side

    def __len__(self) -> int:
        return len(self.source)


def _check(sources: Sequence[Path], outputs: Iterable[Path | None], options: AlignOptions) -> None:
    if options.iterations < 1:
        raise UsageError(f"expected at least one iteration, got {options.iterations}", where="--iterations")
    if not 0 <= options.tension <= 60:
        raise UsageError(f"expected a tension from 0 to 60, got {options.tension}", where="--tension")
    given = {path.resolve() for path in sources}
    for path in outputs:
        if path is not None and path.resolve() in given:
            raise UsageError(f"{path} is both input and output", where=str(path), hint="Name another output file.")


def _read(sources: Sequence[Path], options: AlignOptions) -> _Text:
    text = _Text(_Side(), _Side())
    with console.progress("Reading", unit="pairs") as progress:
        for pair in _pairs(sources, options):
            text.source.append(pair.source)
            text.target.append(pair.target)
            progress.advance()
    if not text.source.number or not text.target.number:
        raise UserError("there is nothing to align: no pair has words on both sides", where=[str(p) for p in sources])
    return text


def _pairs(sources: Sequence[Path], options: AlignOptions) -> Iterator[RawPair]:
    for pair in read_pairs(sources, options.source_lang, options.target_lang):
        for issue in pair.issues:
            if issue.check not in _AUTO_FIXED:
                raise _unusable(issue, sources)
        yield pair


def _unusable(issue: Issue, sources: Sequence[Path]) -> UserError:
    names = " ".join(map(str, sources))
    return UserError(
        issue.message,
        where=str(issue.location),
        hint=f"Mend the file, or let `pellucid doctor {names} --fix clean.tsv` leave out what cannot be used.",
    )


def _fit(text: _Text, options: AlignOptions) -> tuple[Lexicon, Lexicon]:
    """Fit p(target | source) and p(source | target)."""
    lexicons = []
    with console.progress("Counting", 2 * options.iterations, "iterations") as progress:
        for one, other in ((text.source, text.target), (text.target, text.source)):
            lexicons.append(
                fit_lexicon(
                    one,
                    other,
                    len(one.number),
                    len(other.number),
                    iterations=options.iterations,
                    diagonal_tension=options.tension,
                    on_progress=lambda step: progress.advance(note=f"{step.log_likelihood:.3f} nats a word"),
                )
            )
    report = lexicons[0].report
    if report.used == 0:
        raise UserError("there is nothing to align: no pair has words on both sides, and few enough of them")
    console.log(f"{pluralize(report.pairs, 'pair')}; {text.source.unit()} to {text.target.unit()}")
    for what, count, outcome in (
        ("with a blank side", report.blank, "their lines are empty"),
        ("too long to be counted", report.long, "aligned all the same"),
        ("not counted, evenly over the text, to fit in memory", report.sampled, "aligned all the same"),
    ):
        if count:
            console.log(f"pairs {what}: {count:,} ({outcome})")
    return lexicons[0], lexicons[1]


def _links(text: _Text, forward: Lexicon, backward: Lexicon, symmetrise: str) -> Iterator[list[Link]]:
    """Yield the links of each pair."""
    with console.progress("Aligning", len(text), "pairs") as progress:
        for start in range(0, len(text), _CHUNK):
            chunk = range(start, min(start + _CHUNK, len(text)))
            source, target = [text.source[n] for n in chunk], [text.target[n] for n in chunk]
            chosen = forward.batch_links(source, target)
            reverse = [sorted((i, j) for j, i in links) for links in backward.batch_links(target, source)]
            if symmetrise == "forward":
                yield from map(sorted, chosen)
            elif symmetrise == "backward":
                yield from reverse
            else:
                yield from map(SYMMETRISATIONS[symmetrise], chosen, reverse)
            progress.advance(len(chunk))


def _pharaoh(links: Iterable[Link]) -> str:
    return " ".join(f"{i}-{j}" for i, j in links)


def _json_lines(
    sources: Sequence[Path],
    text: _Text,
    forward: Lexicon,
    backward: Lexicon,
    links: Iterable[list[Link]],
    options: AlignOptions,
) -> Iterator[str]:
    """Yield the lines of one JSON object, a line an alignment; the words are read from the files once more."""
    head = {
        "tokens": {"source": text.source.unit(), "target": text.target.unit()},
        "symmetrisation": options.symmetrise,
        "pairs": len(text),
        "blank": forward.report.blank,
        "log_likelihood": {
            "forward": forward.report.log_likelihoods[-1],
            "backward": backward.report.log_likelihoods[-1],
        },
    }
    yield _dumped(head)[:-1] + ', "alignments": ['
    again = _pairs(sources, options)
    for number, pair_links in enumerate(links, 1):
        pair = next(again, None)
        if pair is None:
            raise UserError(
                "with --json the text is read twice, and there is less of it the second time",
                where=[str(path) for path in sources],
                hint="Give files that do not change meanwhile, not pipes.",
            )
        alignment = {"source": split_words(pair.source), "target": split_words(pair.target), "links": pair_links}
        yield _dumped(alignment) + ("," if number < len(text) else "")
    yield "]}"


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write_lexicon(path: Path, text: _Text, forward: Lexicon, backward: Lexicon) -> None:
    targets, sources = list(text.target.number), list(text.source.number)

    def lines() -> Iterator[str]:
        for source in numpy.argsort(-forward.source_counts, kind="stable").tolist():
            for target, probability in forward.translations(source, len(targets)):
                if probability < _LEAST:
                    break
                columns, reverse = backward.row(target)
                location = int(numpy.searchsorted(columns, source))
                found = float(reverse[location]) if location < len(columns) and columns[location] == source else 0.0
                yield f"{sources[source]}\t{targets[target]}\t{probability:.4f}\t{found:.4f}"

    _write(path, lines())


def _write(path: Path | None, lines: Iterator[str]) -> None:
    """Write lines to a file, whole or not at all, or to stdout."""
    with ExitStack() as stack:
        file = None if path is None else stack.enter_context(atomic_file(path))
        while chunk := list(islice(lines, _CHUNK)):
            if file is None:
                console.data("\n".join(chunk))
            else:
                file.write(("\n".join(chunk) + "\n").encode("utf-8"))

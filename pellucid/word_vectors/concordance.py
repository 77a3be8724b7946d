"""Concordance of neighbours: the sentences of a text in which a word's neighbours occur."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError
from pellucid.word_vectors.encoded_text import TextSource, source_files
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.segmenters import SEGMENTERS, load_segmenter

__all__ = ["Concordance", "ConcordanceLine", "NeighbourInText", "find_concordances", "find_neighbours_in_text"]


class ConcordanceLine(NamedTuple):
    """A sentence in which a word occurs.

    Attributes:
        file: the file it is in; None if the text was passed as sentences.
        line: its line in the file, or its number among the sentences, from 1.
        shared: whether it also contains the query word.
    """

    file: str | None
    line: int
    text: str
    shared: bool


class Concordance(NamedTuple):
    """The occurrences of a word in a text.

    Attributes:
        examples: some of its sentences, first those that also contain the query word.
        sentences: number of sentences that contain it.
        shared: number of sentences that also contain the query word.
    """

    examples: tuple[ConcordanceLine, ...]
    sentences: int
    shared: int


@dataclass(frozen=True)
class NeighbourInText:
    """A neighbour with its score and its occurrences; see `Neighbour` and `Concordance`."""

    word: str
    score: float
    examples: tuple[ConcordanceLine, ...]
    sentences: int
    shared: int

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {**vars(self), "examples": [line._asdict() for line in self.examples]}


def find_neighbours_in_text(
    vectors: KeyedVectors,
    word: str,
    corpus: TextSource,
    n: int = 10,
    *,
    examples: int = 3,
    tokenizer: str | None = None,
    lowercase: bool | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[NeighbourInText]:
    """Find the `n` neighbours of a word, each with sentences of a text that contain it.

    Neighbours need not occur together: they occur in similar contexts. So sentences without the query word fill up
    where there are too few with it.

    Args:
        examples: maximum number of sentences per neighbour.
        tokenizer, lowercase: how lines are split into words; by default as in the training, according to the metadata.
        on_progress: called with the number of bytes read since the last call.

    Raises:
        UserError: for a word outside the vocabulary, or a text that cannot be read.
    """
    if examples < 0:
        raise UserError(
            f"expected a number of examples, got {examples}", where="examples", hint="Pass 0 or a positive number."
        )
    about = vectors.metadata.get("training")
    trained = about if isinstance(about, dict) else {}
    near = vectors.similar(word, n)
    found = find_concordances(
        [neighbour.word for neighbour in near],
        corpus,
        query=word,
        examples=examples,
        tokenizer=tokenizer or trained.get("tokenizer", "whitespace"),
        lowercase=trained.get("lowercase", False) if lowercase is None else lowercase,
        on_progress=on_progress,
    )
    return [NeighbourInText(**one._asdict(), **own._asdict()) for one, own in zip(near, found, strict=True)]


def find_concordances(
    words: Sequence[str],
    corpus: TextSource,
    *,
    query: str,
    examples: int = 3,
    tokenizer: str = "whitespace",
    lowercase: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> list[Concordance]:
    """Find the sentences that contain each word, and those that also contain the query word.

    A phrase such as new_york also matches its words in sequence.
    """
    lines: dict[str, list[ConcordanceLine]] = {word: [] for word in words}
    sentences, together = Counter[str](), Counter[str]()
    phrases = {word: parts for word in {*words, query} if len(parts := word.split("_")) > 1 and all(parts)}
    for file, number, sentence, text in _sentences(corpus, tokenizer, lowercase, list(lines), on_progress):
        here = set(sentence)
        here |= {phrase for phrase, parts in phrases.items() if here.issuperset(parts) and _contains(sentence, parts)}
        shared = query in here
        for word in lines.keys() & here:
            sentences[word] += 1
            together[word] += shared
            if sum(line.shared == shared for line in lines[word]) < examples:
                lines[word].append(ConcordanceLine(file, number, text, shared))
    best = {word: sorted(found, key=lambda line: not line.shared)[:examples] for word, found in lines.items()}
    return [Concordance(tuple(best[word]), sentences[word], together[word]) for word in words]


def _contains(sentence: Sequence[str], parts: list[str]) -> bool:
    """Check whether a sentence contains some words in sequence."""
    return any(sentence[i : i + len(parts)] == parts for i in range(len(sentence) - len(parts) + 1))


def _sentences(
    corpus: TextSource,
    tokenizer: str,
    lowercase: bool,
    wanted: Sequence[str],
    on_progress: Callable[[int], None] | None,
) -> Iterator[tuple[str | None, int, list[str], str]]:
    """Yield the sentences that may contain a wanted word: file, line, words, text."""
    files = source_files(corpus)
    if files is None:
        sentences: Iterable[Any] = corpus  # type: ignore[assignment]
        for number, given in enumerate(sentences, 1):
            if isinstance(given, str | Path):
                raise UserError(
                    "expected a sentence as a list of words, got a string",
                    where=f"sentence {number}",
                    hint="Split it into words: [line.split() for line in lines].",
                )
            words = [word.lower() if lowercase else word for word in given]
            yield None, number, words, " ".join(words)
        return
    segment = load_segmenter(tokenizer)
    filtered = not lowercase and tokenizer in SEGMENTERS  # these keep the bytes of a word
    prefixes = [(word.partition("_")[0] or word).encode("utf-8") for word in wanted]
    for path in files:
        read = 0
        for number, line in read_lines(path):
            read += len(line) + 1
            if on_progress is not None and read > 1 << 20:
                on_progress(read)
                read = 0
            # Most lines contain none of the words, which the bytes show without segmenting the line.
            if filtered and not any(prefix in line for prefix in prefixes):
                continue
            text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
            yield str(path), number, segment(text.lower() if lowercase else text), text.strip()

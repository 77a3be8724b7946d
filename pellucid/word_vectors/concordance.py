"""Where words stand in a text: from a neighbour back to the sentences that made it one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.corpus.text_files import read_lines
from pellucid.errors import UserError
from pellucid.word_vectors.encoded_text import TextSource, source_files
from pellucid.word_vectors.segmenters import SEGMENTERS, load_segmenter
from pellucid.word_vectors.vectors import WordVectors

__all__ = ["ConcordanceLine", "NeighbourInText", "find_concordance", "find_neighbours_in_text"]


class ConcordanceLine(NamedTuple):
    """A sentence of the text.

    Attributes:
        file: where it stands; None for sentences that came from no file.
        line: its line, or its number among the sentences, from 1.
        text: the sentence.
        shared: whether the word that was asked about stands in it, too.
    """

    file: str | None
    line: int
    text: str
    shared: bool


@dataclass(frozen=True)
class NeighbourInText:
    """A neighbour, and where it stands.

    Attributes:
        word, score: as of a search.
        places: some sentences with it, those first that hold the word asked about, too.
        sentences: how many sentences have it.
        shared: how many of them hold the word asked about.
    """

    word: str
    score: float
    places: tuple[ConcordanceLine, ...]
    sentences: int
    shared: int


@dataclass
class _Found:
    """What has been found of one word so far."""

    shared: list[ConcordanceLine] = field(default_factory=list)
    alone: list[ConcordanceLine] = field(default_factory=list)
    sentences: int = 0
    both: int = 0


def find_neighbours_in_text(
    vectors: WordVectors,
    word: str,
    corpus: TextSource,
    n: int = 10,
    *,
    examples: int = 3,
    tokenizer: str | None = None,
    lowercase: bool | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[NeighbourInText]:
    """Return the `n` neighbours of a word, each with sentences of a text in which it stands.

    Words that are neighbours need not stand together: they stand alike. So places without the word are shown where
    there are too few with it.

    Args:
        corpus: files or sentences.
        examples: how many places each gets, at most.
        tokenizer, lowercase: how lines come apart; as the vectors' metadata say of the training unless given.
        on_progress: called with numbers of bytes, or of sentences, read since the last call.

    Raises:
        UserError: for a word outside the vocabulary, or a text that cannot be read.
    """
    if examples < 0:
        raise UserError(f"expected a number of places from 0 on, got examples = {examples}")
    about = vectors.metadata.get("training")
    trained = about if isinstance(about, dict) else {}
    near = vectors.similar(word, n)
    found = find_concordance(
        [neighbour.word for neighbour in near],
        corpus,
        beside=word,
        examples=examples,
        tokenizer=tokenizer or trained.get("tokenizer", "whitespace"),
        lowercase=trained.get("lowercase", False) if lowercase is None else lowercase,
        on_progress=on_progress,
    )
    return [
        NeighbourInText(one.word, one.score, places, sentences, shared)
        for one, (places, sentences, shared) in zip(near, found, strict=True)
    ]


def find_concordance(
    words: Sequence[str],
    corpus: TextSource,
    *,
    beside: str,
    examples: int = 3,
    tokenizer: str = "whitespace",
    lowercase: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> list[tuple[tuple[ConcordanceLine, ...], int, int]]:
    """Return for each word some sentences with it, how many there are, and how many hold `beside`, too.

    A phrase, new_york, stands also where its words stand one after another.
    """
    found = {word: _Found() for word in words}
    phrases = {word: parts for word in {*words, beside} if len(parts := word.split("_")) > 1 and all(parts)}
    for file, number, sentence, text in _sentences(corpus, tokenizer, lowercase, list(found), on_progress):
        here = set(sentence)
        here |= {phrase for phrase, parts in phrases.items() if here.issuperset(parts) and _holds(sentence, parts)}
        for word in found.keys() & here:
            own, shared = found[word], beside in here
            own.sentences += 1
            own.both += shared
            places = own.shared if shared else own.alone
            if len(places) < examples:
                places.append(ConcordanceLine(file, number, text, shared))
    return [
        (tuple([*own.shared, *own.alone][:examples]), own.sentences, own.both)
        for own in (found[word] for word in words)
    ]


def _holds(sentence: Sequence[str], parts: list[str]) -> bool:
    """Tell whether some words stand one after another in a sentence."""
    return any(sentence[at : at + len(parts)] == parts for at in range(len(sentence) - len(parts) + 1))


def _sentences(
    corpus: TextSource,
    tokenizer: str,
    lowercase: bool,
    wanted: Sequence[str],
    on_progress: Callable[[int], None] | None,
) -> Iterator[tuple[str | None, int, list[str], str]]:
    """Yield the sentences that may hold a wanted word: file, line, words, text."""
    files = source_files(corpus)
    if files is None:
        sentences: Iterable[Any] = corpus  # type: ignore[assignment]
        for number, given in enumerate(sentences, 1):
            if isinstance(given, str | Path):
                raise UserError("a sentence is a string", hint="Split it into words: [line.split() for line in lines].")
            words = [word.lower() if lowercase else word for word in given]
            yield None, number, words, " ".join(words)
        return
    cut = load_segmenter(tokenizer)
    filtered = not lowercase and tokenizer in SEGMENTERS  # these leave the letters of a word as they are
    sought = [(word.partition("_")[0] or word).encode("utf-8") for word in wanted]
    for path in files:
        read = 0
        for number, line in read_lines(path):
            read += len(line) + 1
            if on_progress is not None and read > 1 << 20:
                on_progress(read)
                read = 0
            # Most lines hold none of the words, and bytes tell it without cutting the line.
            if filtered and not any(word in line for word in sought):
                continue
            text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
            yield str(path), number, cut(text.lower() if lowercase else text), text.strip()

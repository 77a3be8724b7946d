"""Text in, numbers of words out: read once, counted and encoded on the way, and kept on the disk.

A text is a file or several (`Path`, or one string), a line a sentence; or any iterable of sentences, each a list of
words. It is read once, however many epochs follow, and need not fit in memory. Nothing is cut: a sentence is as long as
it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pellucid.corpus.text_files import guess_encoding, read_blocks, read_lines, reject_utf16
from pellucid.errors import UserError
from pellucid.storage.id_store import IdStore, IdStoreWriter
from pellucid.word_vectors.segmenters import Segmenter, load_segmenter
from pellucid.word_vectors.word_table import WordTable, renumber

__all__ = ["EncodedText", "TextSource", "encode_text", "source_files"]

TextSource = str | Path | Sequence[Path] | Iterable[Iterable[str]]
"""A file, several files, or sentences that are lists of words."""

_MARK = b"\xef\xbb\xbf"
_LONGEST_WORD = 1 << 20  # bytes; no text has such words, but a file of another kind has
_BLOCK = 1 << 22  # ids renumbered at a time


class WordCounts(NamedTuple):
    """All different words in the order in which they were first seen, and how often each was seen."""

    words: list[str]
    counts: NDArray[numpy.int64]


@dataclass(frozen=True)
class EncodedText:
    """A text as numbers of words, the most frequent word being 0.

    Attributes:
        words: those that are kept, by falling count.
        counts: int64 [words], how often each stands in the text.
        ids: the sentences, as long as their words were kept.
        words_read: how many words the text has, those that were left out included.
        different: how many different words it has.
    """

    words: tuple[str, ...]
    counts: NDArray[numpy.int64]
    ids: IdStore
    words_read: int
    distinct: int

    def fingerprint(self) -> str:
        """Return a sum of all of it: two texts that have the same are the same."""
        content = hashlib.sha256("\n".join(map(repr, self.words)).encode("utf-8", "surrogatepass"))
        for array in (self.counts, self.ids.ends, self.ids.ids):
            for begin in range(0, len(array), _BLOCK):
                content.update(numpy.ascontiguousarray(array[begin : begin + _BLOCK]).data)
        return content.hexdigest()

    def sentences(self) -> Iterator[list[str]]:
        """Yield the sentences as lists of words."""
        for sentence in self.ids:
            yield [self.words[number] for number in sentence.tolist()]


def source_files(text: TextSource) -> list[Path] | None:
    """Return the files that a text is in; None for sentences.

    Raises:
        UserError: for what is neither.
    """
    if isinstance(text, str) and any(map(str.isspace, text)) and not _exists(text):
        raise UserError(
            f"no such file: {text[:80]!r}",
            hint="One string is a file's name. A text at hand is given as lists of words: "
            "[line.split() for line in text.splitlines()].",
        )
    if isinstance(text, str | Path):
        return [Path(text)]
    if isinstance(text, bytes | bytearray | dict) or not isinstance(text, Iterable):
        raise UserError(
            f"expected a file or sentences, got {type(text).__name__}",
            hint='Give a path, or lists of words: [["the", "cat"], ["a", "dog"]].',
        )
    if isinstance(text, Sequence) and text and all(isinstance(file, Path) for file in text):
        return [Path(str(file)) for file in text]
    return None


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # far too long, or with a NUL in it
        return False


def encode_text(
    text: TextSource,
    folder: Path,
    *,
    tokenizer: str = "whitespace",
    lowercase: bool = False,
    min_count: int = 5,
    max_vocab: int | None = None,
    drop_punctuation: bool = False,
    known: Iterable[str] = (),
    on_progress: Callable[[int], None] | None = None,
) -> EncodedText:
    """Read a text, count its words, choose the vocabulary, and write the words' numbers to files in `folder`.

    Args:
        text: what to read.
        folder: for the numbers, 4 bytes a word; twice that while words are renumbered.
        tokenizer: how lines come apart, see `segmenting.py`; sentences that are lists of words stay as they are.
        lowercase: whether capitals become small letters.
        min_count: words that stand in the text less often are left out.
        max_vocab: how many words are kept, the most frequent ones; None for all.
        drop_punctuation: whether words without a letter or a digit are left out.
        known: words that are kept however rare they are, where they stand in the text at all.
        on_progress: called with numbers of bytes (of files) or words (of sentences) read since the last call.

    Raises:
        UserError: if there is nothing to learn from, with what was counted; for a file that cannot be read or is no
            UTF-8; for sentences that are strings.
    """
    files = source_files(text)
    with IdStoreWriter(folder / "numbers") as writer:
        if files is None:
            pluralize = _read_sentences(_checked(text), writer, lowercase, on_progress)  # type: ignore[arg-type]
        elif tokenizer == "whitespace" and not lowercase:
            pluralize = _read_words(files, writer, on_progress)
        else:
            lines = _lines(files, load_segmenter(tokenizer), on_progress)
            pluralize = _read_sentences(lines, writer, lowercase, None)
        numbers = writer.close()
    if drop_punctuation:
        pluralize = _without_punctuation(pluralize)
    order = _chosen(pluralize, min_count, max_vocab, frozenset(known), files)
    new_number = numpy.full(len(pluralize.words), -1, numpy.int32)
    new_number[order] = numpy.arange(len(order), dtype=numpy.int32)
    with IdStoreWriter(folder / "ids") as writer:
        for ids, lengths in _blocks(numbers):
            kept, kept_lengths = numpy.empty_like(ids), numpy.empty_like(lengths)
            count = renumber(ids, lengths, new_number, kept, kept_lengths)
            writer.extend(kept[:count], kept_lengths)
        store = writer.close()
    numbers.remove()
    words_read = int(pluralize.counts.sum())
    words = tuple(pluralize.words[number] for number in order.tolist())
    _refuse_surrogates(words)
    return EncodedText(words, pluralize.counts[order], store, words_read, int((pluralize.counts > 0).sum()))


def _read_words(files: Sequence[Path], writer: IdStoreWriter, on_progress: Callable[[int], None] | None) -> WordCounts:
    """Count and number what stands between white space."""
    table = WordTable()
    for file in files:
        blocks = read_blocks(file)
        rest = _beginning(blocks)
        reject_utf16(file, rest)
        begun = len(rest)
        ended = not begun or rest.endswith(b"\n")  # whether all that was read so far is whole lines
        rest = rest.removeprefix(_MARK)
        open_words = 0  # of the sentence that has not ended yet
        kept: list[NDArray[numpy.int32]] = []
        for block in chain(blocks, [None]):
            scan = table.scan(rest, block is None)
            ended = block.endswith(b"\n") if block else ended
            kept.append(scan.numbers)
            if len(scan.ends) or block is None:
                whole = numpy.concatenate(kept)
                ends = scan.ends + open_words
                if block is None and not ended:
                    ends = numpy.append(ends, len(whole))
                last = int(ends[-1]) if len(ends) else 0
                writer.extend(whole[:last], numpy.diff(ends, prepend=0))
                kept = [whole[last:]]
            open_words = sum(map(len, kept))
            rest = rest[scan.read :]
            if len(rest) > _LONGEST_WORD:
                raise UserError(
                    f"a word is longer than {_LONGEST_WORD >> 20} MiB: this is not a text of words",
                    where=str(file),
                    hint="Give a UTF-8 text with white space between words.",
                )
            if on_progress is not None:
                on_progress(begun)
                begun = len(block or b"")
            rest += block or b""
    words = table.words()
    try:
        return WordCounts(b"\n".join(words).decode("utf-8").split("\n") if words else [], table.counts)
    except UnicodeDecodeError as error:
        raise _not_utf8(files) from error


def _beginning(blocks: Iterator[bytes]) -> bytes:
    """Return the first block with enough in it for a mark; of packed files blocks may be empty."""
    begun = b""
    while len(begun) < len(_MARK) and (block := next(blocks, None)) is not None:
        begun += block
    return begun


def _read_sentences(
    sentences: Iterable[list[str]],
    writer: IdStoreWriter,
    lowercase: bool,
    on_progress: Callable[[int], None] | None,
) -> WordCounts:
    """Count and number the words of sentences that are lists."""
    number_of: dict[str, int] = {}
    counts = numpy.zeros(1024, numpy.int64)
    for sentence in sentences:
        if lowercase:
            sentence = [word.lower() for word in sentence]
        ids = numpy.array([number_of.setdefault(word, len(number_of)) for word in sentence], numpy.int32)
        if len(number_of) > len(counts):
            counts = numpy.concatenate([counts, numpy.zeros(len(number_of), numpy.int64)])
        numpy.add.at(counts, ids, 1)
        writer.append(ids)
        if on_progress is not None:
            on_progress(len(ids))
    return WordCounts(list(number_of), counts[: len(number_of)])


def _checked(sentences: Iterable[Any]) -> Iterator[list[str]]:
    """Yield the sentences, each a list of strings and nothing else."""
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str | Path):
            raise UserError(
                f"sentence {number} is a string, {str(sentence)[:40]!r}: its letters would be trained as words",
                hint="Split it into words, [line.split() for line in lines]; several files are given as Path objects.",
            )
        if not isinstance(sentence, Iterable):
            raise UserError(
                f"expected sentence {number} as a list of words, got {type(sentence).__name__}",
                hint='A text is a list of sentences, and a sentence a list of words: [["the", "cat"], ["a", "dog"]].',
            )
        words = list(sentence)
        for word in words:
            if not isinstance(word, str):
                raise UserError(
                    f"expected words that are strings, got {word!r} in sentence {number}", hint="Write it as str(…)."
                )
        yield words


def _refuse_surrogates(words: Sequence[str]) -> None:
    """Refuse before the training what no file could hold after it."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = next(word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word))
        raise UserError(
            f"the word {bad!r} holds a lone surrogate: half a character, which no file can hold",
            hint="Read its text again as UTF-8, or leave the word out.",
        ) from error


def _lines(files: Sequence[Path], cut: Segmenter, on_progress: Callable[[int], None] | None) -> Iterator[list[str]]:
    for file in files:
        for number, line in read_lines(file):
            if number == 1:
                line = line.removeprefix(_MARK)
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8([file]) from error
            yield cut(text)
            if on_progress is not None:
                on_progress(len(line) + 1)


def _without_punctuation(pluralize: WordCounts) -> WordCounts:
    """Return the counts without those of words that have no letter and no digit, as if they did not stand there."""
    named = numpy.fromiter((any(map(str.isalnum, word)) for word in pluralize.words), numpy.bool_, len(pluralize.words))
    return WordCounts(pluralize.words, numpy.where(named, pluralize.counts, 0))


def _chosen(
    pluralize: WordCounts, min_count: int, max_vocab: int | None, known: frozenset[str], files: list[Path] | None
) -> NDArray[numpy.int64]:
    """Return the numbers of the words that are kept, by falling count, of equals the one seen first."""
    counts = pluralize.counts
    order = numpy.argsort(-counts, kind="stable")
    keep = counts >= max(min_count, 1)
    if known:
        keep |= (counts > 0) & numpy.fromiter((word in known for word in pluralize.words), numpy.bool_, len(counts))
    order = order[keep[order]][:max_vocab]
    if len(order) >= 2:
        return order
    total, where = int(counts.sum()), [str(file) for file in files or ()]
    if not total:
        raise UserError("the text has no words", where=where, hint="Words stand between spaces, sentences in lines.")
    most = int(counts.argmax())
    read = f"{total:,} words were read, {len(counts):,} different ones"
    if len(counts) < 2:
        raise UserError(
            f"there is nothing to tell apart: {read}, all of them {pluralize.words[most]!r}",
            where=where,
            hint="Is the text in one piece? Chinese needs a tokenizer: `--tokenizer words` or `rjieba`.",
        )
    raise UserError(
        f"a vocabulary needs two words: {read}, and {len(order)} of them at least min_count = {min_count} times"
        f" (the most frequent, {pluralize.words[most]!r}, {int(counts[most]):,} times)",
        where=where,
        hint="Lower it, `--min-count 1`, or give more; Chinese needs a tokenizer: `--tokenizer words` or `rjieba`.",
    )


def _blocks(store: IdStore) -> Iterator[tuple[NDArray[numpy.int32], NDArray[numpy.int64]]]:
    """Yield whole sentences, some million words at a time, with their lengths."""
    first, begin, ends = 0, 0, store.ends
    while first < len(ends):
        last = max(first + 1, int(numpy.searchsorted(ends, begin + _BLOCK, side="right")))
        end = int(ends[last - 1])
        yield store.ids[begin:end], numpy.diff(ends[first:last], prepend=begin)
        first, begin = last, end


def _not_utf8(files: Sequence[Path]) -> UserError:
    for file in files:
        for number, line in read_lines(file):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return UserError(
                    "a line is not UTF-8",
                    where=f"{file}:{number}",
                    hint=f"Convert the file, as with `iconv -f {guess_encoding(line)} -t UTF-8`, or mend the line.",
                )
    raise AssertionError("words that are not UTF-8 in lines that are")

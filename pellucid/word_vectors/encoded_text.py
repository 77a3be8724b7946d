"""A text encoded as word ids: read once, counted and encoded on the way, and stored on disk.

A text is one or several files (`Path`, or one string) with one sentence per line, or an iterable of sentences, each a
list of words. It is read once, regardless of the number of epochs, and need not fit in memory. Sentences may have any
length.
"""

import hashlib
import os
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
"""A file, several files, or sentences as lists of words."""

_MARK = b"\xef\xbb\xbf"
_LONGEST_WORD = 1 << 20  # bytes; longer words mean that the file is not text
_BLOCK = 1 << 22  # ids processed at a time


class WordCounts(NamedTuple):
    """All distinct words in order of first occurrence, and their counts."""

    words: list[str]
    counts: NDArray[numpy.int64]


@dataclass(frozen=True)
class EncodedText:
    """A text as word ids; id 0 is the most frequent word.

    Attributes:
        words: the vocabulary, by decreasing count.
        counts: int64 [words], occurrences in the text.
        ids: the sentences, without words outside the vocabulary.
        words_read: number of words in the text, including those outside the vocabulary.
        distinct: number of distinct words in the text.
    """

    words: tuple[str, ...]
    counts: NDArray[numpy.int64]
    ids: IdStore
    words_read: int
    distinct: int

    def fingerprint(self) -> str:
        """Compute a hash of the whole encoded text."""
        content = hashlib.sha256("\n".join(map(repr, self.words)).encode("utf-8", "surrogatepass"))
        for array in (self.counts, self.ids.ends, self.ids.ids):
            content.update(numpy.ascontiguousarray(array).data)
        return content.hexdigest()

    def sentences(self) -> Iterator[list[str]]:
        """Yield the sentences as lists of words."""
        return ([self.words[number] for number in sentence.tolist()] for sentence in self.ids)


def source_files(text: TextSource) -> list[Path] | None:
    """List the files of a text; None for sentences.

    Raises:
        UserError: if it is neither.
    """
    if isinstance(text, str) and any(map(str.isspace, text)) and not os.path.exists(text):
        raise UserError(
            f"no such file: {text[:80]!r}",
            where="text",
            hint="A string is taken as a file name. Pass a text in memory as lists of words: "
            "[line.split() for line in text.splitlines()].",
        )
    if isinstance(text, str | Path):
        return [Path(text)]
    if isinstance(text, bytes | bytearray | dict) or not isinstance(text, Iterable):
        raise UserError(
            f"expected a file or sentences, got {type(text).__name__}",
            where="text",
            hint='Pass a path, or lists of words: [["the", "cat"], ["a", "dog"]].',
        )
    if isinstance(text, Sequence) and text and all(isinstance(file, Path) for file in text):
        return [Path(str(file)) for file in text]
    return None


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
    """Read a text, count its words, choose the vocabulary, and write the word ids to files in `folder`.

    Args:
        folder: for the ids, 4 bytes per word; temporarily twice that.
        tokenizer: how lines are split, see `segmenters.py`; sentences passed as lists of words are not split.
        min_count: drop words with fewer occurrences.
        max_vocab: maximum vocabulary size; None for unlimited.
        drop_punctuation: drop words without a letter or a digit.
        known: words of the text that are kept however rare they are.
        on_progress: called with the number of bytes (of files) or words (of sentences) read since the last call.

    Raises:
        UserError: if there is nothing to learn from, a file cannot be read or is not UTF-8, or sentences are strings.
    """
    files = source_files(text)
    with IdStoreWriter(folder / "numbers") as writer:
        if files is None:
            counted = _read_sentences(_checked(text), writer, lowercase, on_progress)  # type: ignore[arg-type]
        elif tokenizer == "whitespace" and not lowercase:
            counted = _read_words(files, writer, on_progress)
        else:
            lines = _lines(files, load_segmenter(tokenizer), on_progress)
            counted = _read_sentences(lines, writer, lowercase, None)
        numbers = writer.close()
    if drop_punctuation:  # words without a letter or a digit have a count of 0
        named = numpy.fromiter((any(map(str.isalnum, word)) for word in counted.words), numpy.bool_)
        counted = WordCounts(counted.words, numpy.where(named, counted.counts, 0))
    order = _chosen(counted, min_count, max_vocab, frozenset(known), files)
    new_number = numpy.full(len(counted.words), -1, numpy.int32)
    new_number[order] = numpy.arange(len(order), dtype=numpy.int32)
    with IdStoreWriter(folder / "ids") as writer:
        for ids, lengths in _blocks(numbers):
            kept, kept_lengths = numpy.empty_like(ids), numpy.empty_like(lengths)
            count = renumber(ids, lengths, new_number, kept, kept_lengths)
            writer.extend(kept[:count], kept_lengths)
        store = writer.close()
    numbers.remove()
    words_read = int(counted.counts.sum())
    words = tuple(counted.words[number] for number in order.tolist())
    _reject_surrogates(words)
    return EncodedText(words, counted.counts[order], store, words_read, int((counted.counts > 0).sum()))


def _read_words(files: Sequence[Path], writer: IdStoreWriter, on_progress: Callable[[int], None] | None) -> WordCounts:
    """Count and number the words of files, split at white space."""
    table = WordTable()
    for file in files:
        blocks = read_blocks(file)
        rest = _beginning(blocks)
        reject_utf16(file, rest)
        begun = len(rest)
        ended = not begun or rest.endswith(b"\n")  # whether everything read so far is whole lines
        rest = rest.removeprefix(_MARK)
        open_words = 0  # of the current sentence
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
                    f"a word is longer than {_LONGEST_WORD >> 20} MiB: this is not a text",
                    where=str(file),
                    hint="Use a UTF-8 text with white space between words.",
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
    """Read enough for a byte order mark; blocks of compressed files may be empty."""
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
    """Count and number the words of sentences."""
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
    """Yield the sentences, checked to be lists of strings."""
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str | Path):
            raise UserError(
                f"sentence {number} is a string, {str(sentence)[:40]!r}: its letters would be trained as words",
                where=f"sentence {number}",
                hint="Split it into words: [line.split() for line in lines]; pass several files as Path objects.",
            )
        if not isinstance(sentence, Iterable):
            raise UserError(
                f"expected sentence {number} as a list of words, got {type(sentence).__name__}",
                where=f"sentence {number}",
                hint='Pass a list of sentences, each a list of words: [["the", "cat"], ["a", "dog"]].',
            )
        words = list(sentence)
        for word in words:
            if not isinstance(word, str):
                raise UserError(
                    f"expected words as strings, got {word!r} in sentence {number}",
                    where=f"sentence {number}",
                    hint="Convert it: str(…).",
                )
        yield words


def _reject_surrogates(words: Sequence[str]) -> None:
    """Reject words that could not be saved after the training."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = next(word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word))
        raise UserError(
            f"the word {bad!r} contains a lone surrogate, which cannot be encoded as UTF-8",
            where="text",
            hint="Decode the text as UTF-8, or remove the word.",
        ) from error


def _lines(files: Sequence[Path], segment: Segmenter, on_progress: Callable[[int], None] | None) -> Iterator[list[str]]:
    for file in files:
        for number, line in read_lines(file):
            if number == 1:
                line = line.removeprefix(_MARK)
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8([file]) from error
            yield segment(text)
            if on_progress is not None:
                on_progress(len(line) + 1)


def _chosen(
    counted: WordCounts, min_count: int, max_vocab: int | None, known: frozenset[str], files: list[Path] | None
) -> NDArray[numpy.int64]:
    """Choose the vocabulary: word numbers by decreasing count, ties in order of first occurrence."""
    counts = counted.counts
    order = numpy.argsort(-counts, kind="stable")
    keep = counts >= max(min_count, 1)
    if known:
        keep |= (counts > 0) & numpy.fromiter((word in known for word in counted.words), numpy.bool_, len(counts))
    order = order[keep[order]][:max_vocab]
    if len(order) >= 2:
        return order
    total, where = int(counts.sum()), [str(file) for file in files or ()] or "text"
    if not total:
        raise UserError("the text has no words", where=where, hint="Separate words by spaces and sentences by lines.")
    most = int(counts.argmax())
    read = f"{total:,} words were read, {len(counts):,} distinct"
    if len(counts) < 2:
        raise UserError(
            f"the text has a single distinct word: {read}, all of them {counted.words[most]!r}",
            where=where,
            hint="Split the text into words; Chinese needs a tokenizer: `--tokenizer words` or `rjieba`.",
        )
    raise UserError(
        f"the vocabulary needs at least two words: {read}, {len(order)} of them at least min_count = {min_count} times"
        f" (the most frequent, {counted.words[most]!r}, {int(counts[most]):,} times)",
        where=where,
        hint="Lower `--min-count`, or use more text; Chinese needs a tokenizer: `--tokenizer words` or `rjieba`.",
    )


def _blocks(store: IdStore) -> Iterator[tuple[NDArray[numpy.int32], NDArray[numpy.int64]]]:
    """Yield whole sentences with their lengths, some million words at a time."""
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
                    "a line is not valid UTF-8",
                    where=f"{file}:{number}",
                    hint=f"Convert the file, as with `iconv -f {guess_encoding(line)} -t UTF-8`, or fix the line.",
                )
    raise AssertionError("words that are not UTF-8 in lines that are")

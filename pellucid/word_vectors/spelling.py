"""Spelling suggestions for a word that is not in the vocabulary."""

import unicodedata

import numpy
from numpy.typing import NDArray

from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["suggest_spellings"]

_LONGEST = 64  # characters; longer words are pasted, not mistyped


def suggest_spellings(vocabulary: Vocabulary, word: str, n: int = 3) -> list[str]:
    """Suggest up to `n` similarly spelled words, best first: other case or Unicode normalization, then few edits.

    An edit inserts, deletes or replaces a character, or swaps two adjacent ones; at most a third of the characters, but
    at least one, may be edited. Ties go to the earlier row, usually the more frequent word.

    Source:
        Damerau 1964, optimal string alignment distance, for all words at once.
    """
    found = [variant for variant in _variants(word) if variant in vocabulary]
    if 0 < len(word) <= _LONGEST and len(found) < n:
        for row in _few_edits(vocabulary, word, max(1, len(word) // 3), n):
            if vocabulary[row] not in found:
                found.append(vocabulary[row])
    return found[:n]


def _variants(word: str) -> list[str]:
    """List other spellings of the same word, each once."""
    forms = [word, *(unicodedata.normalize(form, word) for form in ("NFC", "NFKC", "NFD"))]
    forms += [form.strip() for form in forms]
    cased = [case(form) for form in forms for case in (str, str.lower, str.capitalize, str.title, str.upper)]
    return [form for form in dict.fromkeys(cased) if form != word]


def _few_edits(vocabulary: Vocabulary, word: str, most: int, n: int) -> list[int]:
    """Find the rows of the `n` words at most `most` edits away, fewest edits first, then by row."""
    before = numpy.concatenate([[0], numpy.cumsum((vocabulary.letters & 0xC0) != 0x80, dtype=numpy.int32)])
    lengths = before[vocabulary.ends] - before[numpy.concatenate([[0], vocabulary.ends[:-1] + 1])]  # characters
    rows = numpy.flatnonzero(numpy.abs(lengths - len(word)) <= most)
    if not len(rows):
        return []
    distances = _distances(_characters(vocabulary, rows), word, most)
    order = numpy.argsort(distances, kind="stable")[:n]
    return [int(rows[i]) for i in order if distances[i] <= most]


def _characters(vocabulary: Vocabulary, rows: NDArray[numpy.intp]) -> NDArray[numpy.int32]:
    """Decode words into code points, [characters words], padded with 0."""
    chosen = (numpy.diff(vocabulary.ends, prepend=-1) - 1)[rows]
    starts = vocabulary.ends[rows] - chosen
    width = int(chosen.max(initial=0))
    bytes_of = numpy.zeros((width, len(rows)), numpy.uint8)
    for i in range(width):
        inside = chosen > i
        bytes_of[i, inside] = vocabulary.letters[starts[inside] + i]
    if (bytes_of < 0x80).all():
        return bytes_of.astype(numpy.int32)
    words = [column[:length].tobytes().decode("utf-8") for column, length in zip(bytes_of.T, chosen, strict=True)]
    width = max(map(len, words))
    points = numpy.zeros((len(words), width), numpy.int32)
    for row, text in enumerate(words):
        points[row, : len(text)] = [ord(character) for character in text]
    return points.T.copy()


def _distances(words: NDArray[numpy.int32], sought: str, most: int) -> NDArray[numpy.int64]:
    """Compute the edit distance of each word [characters words] to `sought`; distances above `most` are not exact.

    The usual dynamic program, D[i, j] edits between the first i characters of `sought` and the first j of a word, row
    by row, for all words at once.
    """
    width, count = words.shape
    ends = (words != 0).sum(axis=0)
    above = numpy.repeat(numpy.arange(width + 1, dtype=numpy.int16)[:, None], count, axis=1)
    before = above
    for i, character in enumerate(sought, 1):
        row = numpy.empty_like(above)
        row[0] = i
        differs = words != ord(character)
        for j in range(1, width + 1):
            if abs(i - j) > most + 1:  # too far from the diagonal
                row[j] = most + 1
                continue
            numpy.minimum(above[j] + 1, row[j - 1] + 1, out=row[j])
            numpy.minimum(row[j], above[j - 1] + differs[j - 1], out=row[j])
            if i > 1 and j > 1:
                swapped = (words[j - 1] == ord(sought[i - 2])) & ~differs[j - 2]
                row[j][swapped] = numpy.minimum(row[j], before[j - 2] + 1)[swapped]
        before, above = above, row
    distances: NDArray[numpy.int64] = above[ends, numpy.arange(count)].astype(numpy.int64)
    return distances

"""The words of a vocabulary that are spelt most like one that is not in it."""

import unicodedata

import numpy
from numpy.typing import NDArray

from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = ["suggest_spellings"]

_LONGEST = 64  # characters; nobody mistypes a longer word, they paste it


def suggest_spellings(vocabulary: Vocabulary, word: str, n: int = 3) -> list[str]:
    """Return up to `n` words spelt like `word`, nearest first: other capitals or another Unicode form, then few edits.

    An edit inserts, drops or replaces a character, or swaps two neighbours; at most a third of the characters, at
    least one, may be edited. Of words equally near, the one in the earlier row, as a rule the more frequent one, wins.

    Source:
        the optimal string alignment distance of Damerau 1964, over all words at once.
    """
    found = [variant for variant in _variants(word) if variant in vocabulary]
    if 0 < len(word) <= _LONGEST and len(found) < n:
        for row in _few_edits(vocabulary, word, max(1, len(word) // 3), n):
            if vocabulary[row] not in found:
                found.append(vocabulary[row])
    return found[:n]


def _variants(word: str) -> list[str]:
    """Return other ways to write the same word, each once."""
    forms = [word, *(unicodedata.normalize(form, word) for form in ("NFC", "NFKC", "NFD"))]
    forms += [form.strip() for form in forms]
    cased = [case(form) for form in forms for case in (str, str.lower, str.capitalize, str.title, str.upper)]
    return [form for form in dict.fromkeys(cased) if form != word]


def _few_edits(vocabulary: Vocabulary, word: str, most: int, n: int) -> list[int]:
    """Return the rows of the `n` words that are at most `most` edits away, nearest first, then by row."""
    before = numpy.concatenate([[0], numpy.cumsum((vocabulary.letters & 0xC0) != 0x80, dtype=numpy.int32)])
    lengths = before[vocabulary.ends] - before[numpy.concatenate([[0], vocabulary.ends[:-1] + 1])]  # characters
    rows = numpy.flatnonzero(numpy.abs(lengths - len(word)) <= most)
    if not len(rows):
        return []
    distances = _distances(_characters(vocabulary, rows), word, most)
    order = numpy.argsort(distances, kind="stable")[:n]
    return [int(rows[place]) for place in order if distances[place] <= most]


def _characters(vocabulary: Vocabulary, rows: NDArray[numpy.intp]) -> NDArray[numpy.int32]:
    """Return the code points of words, [characters words], 0 behind the end of a word."""
    chosen = (numpy.diff(vocabulary.ends, prepend=-1) - 1)[rows]
    starts = vocabulary.ends[rows] - chosen
    width = int(chosen.max(initial=0))
    bytes_of = numpy.zeros((width, len(rows)), numpy.uint8)
    for place in range(width):
        inside = chosen > place
        bytes_of[place, inside] = vocabulary.letters[starts[inside] + place]
    if (bytes_of < 0x80).all():
        return bytes_of.astype(numpy.int32)
    words = [column[:length].tobytes().decode("utf-8") for column, length in zip(bytes_of.T, chosen, strict=True)]
    width = max(map(len, words))
    points = numpy.zeros((len(words), width), numpy.int32)
    for row, text in enumerate(words):
        points[row, : len(text)] = [ord(character) for character in text]
    return points.T.copy()


def _distances(words: NDArray[numpy.int32], sought: str, most: int) -> NDArray[numpy.int64]:
    """Return how many edits each word [characters words] is from `sought`; more than `most` may be any such number.

    The usual table, D[i, j] edits between the first i characters sought and the first j of a word, row by row, with a
    column of words in the place of each number.
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
            if abs(i - j) > most + 1:  # that far from the diagonal nothing is near
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

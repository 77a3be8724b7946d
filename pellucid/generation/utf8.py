"""UTF-8 in decoding: only tokens that continue a character are allowed, and only complete characters are shown.

A token may be part of a character. Read byte by byte, UTF-8 is in one of eight states: between characters, or at some
point within one. A token is allowed in a state if its bytes continue from there, and to a state that some token can
continue again.
"""

import codecs
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy
from numpy.typing import NDArray

__all__ = ["CHARACTER_BOUNDARY", "CharacterStream", "Utf8Constraint"]

CHARACTER_BOUNDARY = 0
"""State between two characters."""

_WRONG = 8
_ONE, _TWO, _THREE, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4 = range(1, 8)  # _TWO: any two continuation bytes miss
_CONTINUATION = (0x80, 0xBF)

# state → (first byte, last byte, state after it)
_STEPS: dict[int, list[tuple[int, int, int]]] = {
    CHARACTER_BOUNDARY: [
        (0x00, 0x7F, CHARACTER_BOUNDARY),
        (0xC2, 0xDF, _ONE),
        (0xE0, 0xE0, _AFTER_E0),
        (0xE1, 0xEC, _TWO),
        (0xED, 0xED, _AFTER_ED),
        (0xEE, 0xEF, _TWO),
        (0xF0, 0xF0, _AFTER_F0),
        (0xF1, 0xF3, _THREE),
        (0xF4, 0xF4, _AFTER_F4),
    ],
    _ONE: [(*_CONTINUATION, CHARACTER_BOUNDARY)],
    _TWO: [(*_CONTINUATION, _ONE)],
    _THREE: [(*_CONTINUATION, _TWO)],
    _AFTER_E0: [(0xA0, 0xBF, _ONE)],  # below would be a two-byte character in three bytes
    _AFTER_ED: [(0x80, 0x9F, _ONE)],  # above would be half of a surrogate pair
    _AFTER_F0: [(0x90, 0xBF, _TWO)],  # below would be a three-byte character in four
    _AFTER_F4: [(0x80, 0x8F, _TWO)],  # above would be past U+10FFFF
}


class CharacterStream:
    """Decodes bytes as they come; the bytes of an incomplete character are held back."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, data: bytes) -> str:
        """Add bytes; return the characters that are complete now."""
        return self._decoder.decode(data)

    @property
    def incomplete(self) -> bytes:
        """Bytes of a character that is not complete."""
        return bytes(self._decoder.getstate()[0])


class Utf8Constraint:
    """Knows for every id and state whether the id is allowed next, and which state it leads to.

    Ids that add no bytes (special ones, or rows of the model without a token) are never allowed, except for those that
    end the text, and these only between characters.

    Args:
        pieces: what each id adds to a text, in UTF-8, possibly part of a character.
        end_ids: ids that end the text.
        vocab_size: number of logits, at least as many as there are pieces.

    Source:
        The Unicode Standard, table 3-7, well-formed byte sequences.
    """

    def __init__(self, pieces: Sequence[bytes], end_ids: Collection[int], vocab_size: int) -> None:
        self._after = numpy.full((_WRONG, vocab_size), _WRONG, dtype=numpy.int8)
        self._after[:, : len(pieces)] = _states_after(pieces)
        self._after[:, [i for i, piece in enumerate(pieces) if not piece]] = _WRONG
        self._after[CHARACTER_BOUNDARY, [end_id for end_id in end_ids if end_id < vocab_size]] = CHARACTER_BOUNDARY
        self._forbid_dead_ends()

    @cached_property
    def forbidden(self) -> NDArray[numpy.float32]:
        """What is added to logits in each state: 0 for what may come next, −inf for what may not, [8 vocab_size]."""
        return numpy.where(self._after == _WRONG, numpy.float32(-numpy.inf), numpy.float32(0))

    def next(self, state: int, token_id: int) -> int:
        """Look up the state after an id that is allowed in `state`."""
        return int(self._after[state, token_id])

    def _forbid_dead_ends(self) -> None:
        """Forbid ids that lead to a dead end: a vocabulary may lack the bytes that complete a character."""
        alive = {CHARACTER_BOUNDARY}
        while True:
            continues = numpy.isin(self._after, sorted(alive)).any(axis=1)
            found = alive | {int(state) for state in numpy.flatnonzero(continues)}
            if found == alive:
                break
            alive = found
        self._after[~numpy.isin(self._after, sorted(alive))] = _WRONG


def _states_after(pieces: Sequence[bytes]) -> NDArray[numpy.int8]:
    """Compute the state after each piece from each state, [8 pieces], all pieces together byte by byte."""
    steps = numpy.full((_WRONG + 1, 256), _WRONG, dtype=numpy.int8)
    for state, ranges in _STEPS.items():
        for first, last, then in ranges:
            steps[state, first : last + 1] = then
    lengths = numpy.array([len(piece) for piece in pieces], dtype=numpy.int64)
    starts = lengths.cumsum() - lengths
    data = numpy.frombuffer(b"".join(pieces), dtype=numpy.uint8)
    after = numpy.repeat(numpy.arange(_WRONG, dtype=numpy.int8)[:, None], len(pieces), axis=1)
    for i in range(int(lengths.max(initial=0))):
        longer = numpy.flatnonzero(lengths > i)
        after[:, longer] = steps[after[:, longer], data[starts[longer] + i]]
    return after

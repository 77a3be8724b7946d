"""Which bytes may follow which, so that what is generated is always text.

A token may be part of a character. Read byte by byte, UTF-8 is in one of eight states: between characters, or somewhere
within one. A token is allowed in a state if its bytes lead on from there, and to where some token leads on again.
"""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy
from numpy.typing import NDArray

__all__ = ["CHARACTER_BOUNDARY", "Utf8Constraint"]

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


class Utf8Constraint:
    """Knows, for every id and state, whether the id may come next and which state it leads to.

    An id that adds no bytes (a special one, or one of the model's rows that no token has) may never come, but for those
    that end the text, and these only between characters.

    Args:
        pieces: what each id adds to a text, in UTF-8, perhaps part of a character.
        end_ids: ids that end the text.
        vocab_size: how many logits the model has, at least as many as there are pieces.

    Source:
        The Unicode Standard, table 3-7, well-formed byte sequences.
    """

    def __init__(self, pieces: Sequence[bytes], end_ids: Collection[int], vocab_size: int) -> None:
        self._after = numpy.full((_WRONG, vocab_size), _WRONG, dtype=numpy.int8)
        self._after[:, : len(pieces)] = _states_after(pieces)
        self._after[:, [i for i, piece in enumerate(pieces) if not piece]] = _WRONG
        self._after[CHARACTER_BOUNDARY, [number for number in end_ids if number < vocab_size]] = CHARACTER_BOUNDARY
        self._forbid_dead_ends()

    @cached_property
    def forbidden(self) -> NDArray[numpy.float32]:
        """What is added to logits in each state: 0 for what may come next, −inf for what may not, [8 vocab_size]."""
        return numpy.where(self._after == _WRONG, numpy.float32(-numpy.inf), numpy.float32(0))

    def next(self, state: int, number: int) -> int:
        """Return the state after an id that may come in `state`."""
        return int(self._after[state, number])

    def _forbid_dead_ends(self) -> None:
        """Let no id lead to where nothing leads on: a vocabulary may lack the bytes that would end a character."""
        alive = {CHARACTER_BOUNDARY}
        while True:
            leads_on = numpy.isin(self._after, sorted(alive)).any(axis=1)
            found = alive | {int(state) for state in numpy.flatnonzero(leads_on)}
            if found == alive:
                break
            alive = found
        self._after[~numpy.isin(self._after, sorted(alive))] = _WRONG


def _states_after(pieces: Sequence[bytes]) -> NDArray[numpy.int8]:
    """Return the state after each piece from each state, [8 pieces]; all pieces go on together, byte by byte."""
    steps = numpy.full((_WRONG + 1, 256), _WRONG, dtype=numpy.int8)
    for state, ranges in _STEPS.items():
        for first, last, then in ranges:
            steps[state, first : last + 1] = then
    lengths = numpy.array([len(piece) for piece in pieces], dtype=numpy.int64)
    starts = lengths.cumsum() - lengths
    data = numpy.frombuffer(b"".join(pieces), dtype=numpy.uint8)
    after = numpy.repeat(numpy.arange(_WRONG, dtype=numpy.int8)[:, None], len(pieces), axis=1)
    for place in range(int(lengths.max(initial=0))):
        longer = numpy.flatnonzero(lengths > place)
        after[:, longer] = steps[after[:, longer], data[starts[longer] + place]]
    return after

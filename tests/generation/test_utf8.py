"""The guard of characters against Python's own decoder."""

from functools import cache
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from pellucid.generation.utf8 import CHARACTER_BOUNDARY, Utf8Constraint

# Bytes at both ends of every range of the table, and one inside.
EDGES = [
    *(0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xB4, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE),
    *(0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF),
]
PIECES = st.lists(st.sampled_from(EDGES), min_size=1, max_size=4).map(bytes)
END = 0


def is_beginning(data: bytes) -> bool:
    """Tell whether some text begins with these bytes: up to three more make one of them.

    An incremental decoder alone does not do: it waits for a third byte after ED A0, with which no character begins.
    """
    return any(_is_text(data + bytes(more)) for count in range(4) for more in product((0x80, 0x90, 0xBF), repeat=count))


@cache
def single_bytes() -> list[bytes]:
    return [bytes([value]) for value in range(256)]


@given(st.lists(PIECES, min_size=1, max_size=5))
def test_a_piece_is_allowed_just_where_the_bytes_stay_the_beginning_of_a_text(pieces: list[bytes]) -> None:
    guard = Utf8Constraint([b"", *single_bytes(), *pieces], [END], 1 + 256 + len(pieces))
    state, written = CHARACTER_BOUNDARY, b""
    for number, piece in enumerate(pieces, 257):
        allowed = guard.forbidden[state, number] == 0
        assert allowed == is_beginning(written + piece)
        if not allowed:
            break
        state, written = guard.next(state, number), written + piece
        assert (guard.forbidden[state, END] == 0) == _is_text(written)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_what_adds_no_bytes_may_not_come_but_for_an_end() -> None:
    guard = Utf8Constraint([b"", b"", b"a"], [1], 5)
    assert [value == 0 for value in guard.forbidden[CHARACTER_BOUNDARY]] == [False, True, True, False, False]


def test_a_beginning_that_no_token_can_end_may_not_come() -> None:
    lead, middle, end, letter = b"\xe6", b"\xb0", b"\xb4", b"a"
    whole = Utf8Constraint([lead, middle, end, letter], [], 4)
    assert [value == 0 for value in whole.forbidden[CHARACTER_BOUNDARY]] == [True, False, False, True]
    dead = Utf8Constraint([lead, letter], [], 2)
    assert [value == 0 for value in dead.forbidden[CHARACTER_BOUNDARY]] == [False, True]
    half_dead = Utf8Constraint([b"\xf0\x9f", b"\xf0\x9f\xa4\x97", letter], [], 3)
    assert [value == 0 for value in half_dead.forbidden[CHARACTER_BOUNDARY]] == [False, True, True]

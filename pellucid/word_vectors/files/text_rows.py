"""Kernels that parse lines of text to rows of float32, and format rows as text.

Parsing: a number's digits are accumulated in an integer and scaled by a power of ten in float64. The result may be off
by a few units in the last place of float64; float32 has 29 bits fewer, so it is rounded correctly unless it is that
close to the midpoint between two float32 values. Such numbers, and those at the ends of float32's range, are left to
Python's `float` (one in some hundred million): the result is always `numpy.float32(float(text))`.

Formatting: the shortest decimal that parses to the same float32; nine digits always suffice.
"""

from typing import Any

import numpy
from numpy.typing import NDArray

from pellucid.kernels.compilation import kernel

__all__ = [
    "BLANK",
    "DOUBTFUL",
    "LONGEST",
    "NOT_FINITE",
    "NO_WORD",
    "PLAIN",
    "RAGGED",
    "SPACED",
    "format_rows",
    "parse_rows",
]

Array = NDArray[Any]

LONGEST = 16  # bytes of a number and the space before it: " -1.23456789e-38"

# Kinds of lines.
PLAIN, SPACED, NO_WORD, DOUBTFUL, NOT_FINITE, RAGGED, BLANK = range(7)

# Kinds of fields.
_NUMBER, _CLOSE_CALL, _INFINITE, _WORD = range(4)

_POWERS = numpy.array([float(f"1e{power}") for power in range(-300, 301)])
_ONE = 300  # place of 10^0
_SMALLEST, _LARGEST = 1.2e-38, 3.4e38  # between which float32 has all its digits
_LESS, _MORE = 1 - 8 * 2.0**-53, 1 + 8 * 2.0**-53  # more than the roundings of an integer, a power and their product
_FITTING = 19  # digits that a uint64 holds, whatever they are
_NO_EXPONENT = -100_000
_MOST, _TEN = numpy.uint64(10**18), numpy.uint64(10)  # a mantissa from the first on takes no more digits

_SPACE, _TAB, _CR, _LF = 32, 9, 13, 10
_ZERO, _NINE, _POINT, _PLUS, _MINUS = 48, 57, 46, 43, 45


@kernel
def parse_rows(
    text: Array, dim: int, vectors: Array, letters: Array, word_ends: Array, kinds: Array, starts: Array
) -> tuple[int, int]:
    r"""Parse whole lines, each a word and d numbers.

    Args:
        text: uint8 [bytes], ending in a line feed.
        vectors: float32 [lines d], filled with the rows of lines below `NOT_FINITE`, one after another. Those of
            `DOUBTFUL` lines are to be parsed again.
        letters: uint8 [bytes], filled with the words of these rows and a line feed after each.
        word_ends: int64 [lines], where each word ends in `letters`.
        kinds: uint8 [lines], filled with what each line is.
        starts: int64 [lines + 1], filled with where each line begins.

    Returns:
        How many rows there are, and how many letters.
    """
    value = numpy.empty(1, numpy.float64)
    row = used = line = begin = 0
    while begin < len(text):
        starts[line] = begin
        at, end = _parse_simple(text, begin, vectors[row])
        kind = PLAIN
        if at < 0:
            while text[end] != _LF:
                end += 1
            kind, at = _parse_any(text, begin, end, vectors[row], value)
        if kind < NOT_FINITE:
            first = begin
            while first < at and (text[first] == _SPACE or text[first] == _TAB):
                first += 1
            if kind == PLAIN and first == at:
                kind = NO_WORD
            for place in range(first, at):
                letter = text[place]
                letters[used] = letter
                used += 1
                if kind == PLAIN and letter in (_SPACE, _TAB):
                    kind = SPACED
            word_ends[row] = used
            letters[used] = _LF
            used += 1
            row += 1
        kinds[line] = kind
        line += 1
        begin = end + 1
    starts[line] = begin
    return row, used


@kernel
def _parse_simple(text: Array, at: int, numbers: Array) -> tuple[int, int]:
    """Parse a line of the usual form: a word, and numbers of at most 19 digits, no exponents, one space before each.

    Returns:
        Where the word ends, and where the line does; −1 and a place in the line if it has another form.
    """
    while text[at] > _SPACE:
        at += 1
    word_end = at
    for column in range(len(numbers)):
        if text[at] != _SPACE:
            return -1, at
        at += 1
        negative = text[at] == _MINUS
        at += negative
        first, after, mantissa = at, 0, numpy.uint64(0)
        while _ZERO <= text[at] <= _NINE:
            mantissa = mantissa * _TEN + numpy.uint64(text[at] - _ZERO)
            at += 1
        digits = at - first
        if text[at] == _POINT:
            at += 1
            first = at
            while _ZERO <= text[at] <= _NINE:
                mantissa = mantissa * _TEN + numpy.uint64(text[at] - _ZERO)
                at += 1
            after = at - first
            digits += after
        if digits == 0 or digits > _FITTING:
            return -1, at
        size = numpy.float64(mantissa) * _POWERS[_ONE - after]
        narrow = numpy.float32(size * _LESS)
        if narrow != numpy.float32(size * _MORE) or (narrow < _SMALLEST and mantissa != numpy.uint64(0)):
            return -1, at
        numbers[column] = -narrow if negative else narrow
    at += text[at] == _SPACE
    at += text[at] == _CR
    return (word_end if text[at] == _LF else -1), at


@kernel
def _parse_any(text: Array, begin: int, end: int, numbers: Array, value: Array) -> tuple[int, int]:
    """Parse the line text[begin:end] from its end on; return what it is, and where its word ends."""
    at = end
    while at > begin and (text[at - 1] == _SPACE or text[at - 1] == _TAB or text[at - 1] == _CR):
        at -= 1
    kind = PLAIN if at > begin else BLANK
    column = len(numbers)
    while column > 0 and kind < NOT_FINITE:
        first = at
        while first > begin and text[first - 1] != _SPACE and text[first - 1] != _TAB:
            first -= 1
        field = _parse_number(text, first, at, value) if first < at else _WORD
        column -= 1
        if field == _WORD:
            kind = RAGGED
        elif field == _INFINITE:
            kind = NOT_FINITE
        elif field == _CLOSE_CALL:
            kind = DOUBTFUL
        else:
            numbers[column] = value[0]
        at = _before_spaces(text, begin, first)
    return kind, at


@kernel
def _before_spaces(text: Array, begin: int, end: int) -> int:
    """Find the end of the text before `end`, without trailing spaces and tabs."""
    while end > begin and (text[end - 1] == _SPACE or text[end - 1] == _TAB):
        end -= 1
    return end


@kernel
def _parse_number(text: Array, at: int, end: int, value: Array) -> int:
    """Put the number text[at:end] into value[0]; return what it is."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    mantissa, exponent, digits, point = numpy.uint64(0), 0, 0, False
    while at < end:
        letter = text[at]
        if _ZERO <= letter <= _NINE:
            digits += 1
            if mantissa < _MOST:
                mantissa = mantissa * _TEN + numpy.uint64(letter - _ZERO)
                exponent -= point
            else:
                exponent += not point
        elif letter == _POINT and not point:
            point = True
        else:
            break
        at += 1
    if digits == 0:
        return _INFINITE if not point and _is_infinite(text, at, end) else _WORD
    if at < end:
        if text[at] != 101 and text[at] != 69:  # e, E
            return _WORD
        power = _parse_exponent(text, at + 1, end)
        if power == _NO_EXPONENT:
            return _WORD
        exponent += power
    size = numpy.float64(mantissa)
    if mantissa != numpy.uint64(0):
        if not -_ONE <= exponent <= _ONE:
            return _CLOSE_CALL
        size *= _POWERS[_ONE + exponent]
        if not _SMALLEST < size < _LARGEST:
            return _CLOSE_CALL
        if numpy.float32(size * _LESS) != numpy.float32(size * _MORE):
            return _CLOSE_CALL
    value[0] = -size if negative else size
    return _NUMBER


@kernel
def _parse_exponent(text: Array, at: int, end: int) -> int:
    """Parse the integer text[at:end], clamped to ±10,000; `_NO_EXPONENT` if it is not one."""
    negative = at < end and text[at] == _MINUS
    if at < end and (negative or text[at] == _PLUS):
        at += 1
    if at == end:
        return _NO_EXPONENT
    power = 0
    while at < end:
        if not _ZERO <= text[at] <= _NINE:
            return _NO_EXPONENT
        power = min(power * 10 + text[at] - _ZERO, 10000)
        at += 1
    return -power if negative else power


@kernel
def _is_infinite(text: Array, at: int, end: int) -> bool:
    """Tell whether text[at:end] is nan, inf or infinity, in capitals or not."""
    size = end - at
    if size != 3 and size != 8:
        return False
    a, b, c = text[at] | 32, text[at + 1] | 32, text[at + 2] | 32
    if a == 110 and b == 97 and c == 110:
        return size == 3
    if not (a == 105 and b == 110 and c == 102):
        return False
    if size == 3:
        return True
    i, n, t, y = text[at + 4] | 32, text[at + 5] | 32, text[at + 6] | 32, text[at + 7] | 32
    return bool(text[at + 3] | 32 == 105 and i == 110 and n == 105 and t == 116 and y == 121)


@kernel
def format_rows(vectors: Array, negative: Array, letters: Array, ends: Array, last_space: bool, out: Array) -> int:
    """Write rows as lines, each a word and its numbers.

    Args:
        vectors: float32 [rows d], finite.
        negative: bool [rows d], their signs: compiled code does not tell 0 from −0.
        letters, ends: the words, as in a vocabulary.
        last_space: whether a space stands at the end of each line, as fastText writes it.
        out: uint8, room for all: `LONGEST` bytes a number, and the words.

    Returns:
        How many bytes there are.
    """
    at = start = 0
    digits = numpy.empty(9, numpy.uint8)
    for row in range(len(vectors)):
        for place in range(start, ends[row]):
            out[at] = letters[place]
            at += 1
        start = ends[row] + 1
        for column in range(vectors.shape[1]):
            out[at] = _SPACE
            at += 1
            if negative[row, column]:
                out[at] = _MINUS
                at += 1
            at = _format_size(abs(vectors[row, column]), digits, out, at)
        if last_space:
            out[at] = _SPACE
            at += 1
        out[at] = _LF
        at += 1
    return at


@kernel
def _format_size(value: float, digits: Array, out: Array, at: int) -> int:
    """Write a number from 0 on at out[at:], as 1.23 or 1.23e-07, and return where it ends."""
    size = numpy.float64(value)
    if size == 0:
        out[at] = _ZERO
        return at + 1
    count, power = _shortest(size, digits)
    if -5 <= power < 9:
        return _write_plain(digits, count, power, out, at)
    at = _write_plain(digits, count, 0, out, at)
    out[at] = 101  # e
    out[at + 1] = _MINUS if power < 0 else _PLUS
    out[at + 2] = _ZERO + abs(power) // 10
    out[at + 3] = _ZERO + abs(power) % 10
    return at + 4


@kernel
def _shortest(size: float, digits: Array) -> tuple[int, int]:
    """Fill digits with the shortest decimal that reads as `size`; return how many, and the first one's power of ten."""
    narrow = numpy.float32(size)
    power = int(numpy.floor(numpy.log10(size)))
    mantissa, count = _rounded(size, power, 9), 9
    while count > 1:
        shorter = _rounded(size, power, count - 1)
        read = numpy.float64(shorter) * _POWERS[_ONE + power - count + 2]
        if numpy.float32(read * _LESS) != narrow or numpy.float32(read * _MORE) != narrow:
            break
        mantissa, count = shorter, count - 1
    if mantissa >= int(_POWERS[_ONE + count]):  # 9.9999 became 10.000
        mantissa //= 10
        power += 1
    while count > 1 and mantissa % 10 == 0:
        mantissa //= 10
        count -= 1
    for place in range(count):
        digits[count - 1 - place] = _ZERO + mantissa % 10
        mantissa //= 10
    return count, power


@kernel
def _rounded(size: float, power: int, count: int) -> int:
    """Round `size` to an integer of `count` digits whose first digit has the place value 10^power."""
    return int(size * _POWERS[_ONE + count - 1 - power] + 0.5)


@kernel
def _write_plain(digits: Array, count: int, power: int, out: Array, at: int) -> int:
    """Write 0.00123, 1.23, 123 or 12300."""
    for place in range(min(power, 0), max(count, power + 1)):
        if place == power + 1:
            out[at] = _POINT
            at += 1
        out[at] = digits[place] if 0 <= place < count else _ZERO
        at += 1
    return at

"""Segmenters: how a line of text is split into words.

whitespace   at white space
words        letters, digits and punctuation separately; scripts without spaces by character (`corpus/words.py`)
characters   every character except white space
rjieba       Chinese words by jieba's dictionary, without white space; needs the extra `zh`
a file       tokenizer.json of a Pellucid model: the pieces that the model sees, as text where they are text
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pellucid.corpus.words import split_words
from pellucid.errors import UserError

__all__ = ["SEGMENTERS", "Segmenter", "load_segmenter"]

Segmenter = Callable[[str], list[str]]


def load_segmenter(name: str) -> Segmenter:
    """Load the function that splits a line, by name or from a tokenizer.json.

    Raises:
        UserError: for an unknown name, or a missing package.
    """
    if name in SEGMENTERS:
        return SEGMENTERS[name]()
    if os.path.isfile(name):
        return _pieces(Path(name))
    raise UserError(
        f"unknown tokenizer {name!r}",
        where="--tokenizer",
        hint=f"Use {', '.join(SEGMENTERS)}, or a model's tokenizer.json.",
    )


def _rjieba() -> Segmenter:
    try:
        import rjieba
    except ImportError as error:
        raise UserError(
            "the package rjieba is not installed",
            where="--tokenizer rjieba",
            hint="Install it, `pip install -c constraints.txt '.[zh]'` in the clone, "
            "or use `--tokenizer words`, which splits Chinese by character.",
        ) from error
    cut: Callable[[str], list[str]] = rjieba.cut
    return lambda text: [word for word in cut(text) if not word.isspace()]


def _pieces(path: Path) -> Segmenter:
    from pellucid.tokenizers import load_tokenizer

    tokenizer: Any = load_tokenizer(path)
    return lambda text: [piece_to_word(piece.bytes) for piece in tokenizer.pieces(text)]


def piece_to_word(content: bytes) -> str:
    """Name a tokenizer's piece as a word: its text, or `<0xE7>` for part of a character."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in content)


SEGMENTERS: dict[str, Callable[[], Segmenter]] = {
    "whitespace": lambda: str.split,
    "words": lambda: split_words,
    "characters": lambda: lambda text: list("".join(text.split())),
    "rjieba": _rjieba,
}

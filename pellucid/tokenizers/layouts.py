"""The two layouts of tokenizer.json, and how its components change a text."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pellucid.errors import UserError
from pellucid.tokenizers.alphabet import SPACE_MARK

__all__ = [
    "BYTE_CHARACTERS",
    "SPACE_MARK",
    "adds_space_prefix",
    "decode_byte_fallback",
    "decode_byte_level",
    "is_byte_level",
    "without_initial_mark",
    "without_space_prefix",
]

_NO_PREFIX: dict[str, dict[str, Any]] = {
    "Prepend": {"prepend": ""},
    "Metaspace": {"prepend_scheme": "never"},
    "ByteLevel": {"add_prefix_space": False},
}
_BYTE_PIECE = re.compile("<0x([0-9A-F]{2})>")


def without_initial_mark(content: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the content with a Metaspace that does not mark the first word (if it marked only that)."""
    return _changed(content, lambda part: _NO_PREFIX["Metaspace"] if part.get("prepend_scheme") == "first" else {})


def without_space_prefix(content: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the content so that it puts no space before a text."""
    return _changed(content, lambda part: _NO_PREFIX.get(str(part.get("type")), {}))


def _changed(content: Mapping[str, Any], fields: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Copy the content with new values of these fields of its normalizers and pre-tokenizers."""
    copy: dict[str, Any] = json.loads(json.dumps(content))
    for part in _preparations(copy):
        part.update(fields(part))
    return copy


def _preparations(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the normalizers and pre-tokenizers of a text."""
    yield from _parts(content.get("normalizer"))
    yield from _parts(content.get("pre_tokenizer"))


def _parts(part: Any) -> Iterator[dict[str, Any]]:
    """Yield a normalizer or pre-tokenizer and, for a sequence, its members."""
    if isinstance(part, dict):
        yield part
        for inner in (*part.get("pretokenizers", ()), *part.get("normalizers", ())):
            yield from _parts(inner)


def is_byte_level(content: Mapping[str, Any]) -> bool:
    """Whether pieces are spelled with byte characters (GPT-2's layout).

    Raises:
        UserError: for an unknown layout.
    """
    model = content.get("model") or {}
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise UserError(
            f"the tokenizer is of type {kind}, expected BPE",
            where="tokenizer.json",
            hint="Import a model with byte-pair encoding, such as GPT-2, Llama or Qwen.",
        )
    if any(part.get("type") == "ByteLevel" for part in _parts(content.get("pre_tokenizer"))):
        return True
    if model.get("byte_fallback"):
        return False
    raise UserError(
        "the tokenizer is neither byte-level nor has a byte fallback",
        where="tokenizer.json",
        hint="Choose a model whose tokenizer covers all bytes: this one has no ids for some characters.",
    )


def adds_space_prefix(content: Mapping[str, Any]) -> bool:
    """Whether a space is put before every text."""
    tests: dict[str, Callable[[dict[str, Any]], bool]] = {
        "Prepend": lambda part: part.get("prepend") == SPACE_MARK,
        "Metaspace": lambda part: part.get("prepend_scheme", "always") != "never",
        "ByteLevel": lambda part: bool(part.get("add_prefix_space", True)),
    }
    return any(test(part) for part in _preparations(content) if (test := tests.get(str(part.get("type")))))


def _byte_characters() -> list[str]:
    """List GPT-2's printable character for each byte: itself if printable in Latin-1, else one from U+0100 on.

    Source:
        Radford et al. 2019, the published encoder.py, `bytes_to_unicode`.
    """
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    unseen = [value for value in range(256) if value not in seen]
    return [chr(value) if value in seen else chr(0x100 + unseen.index(value)) for value in range(256)]


BYTE_CHARACTERS = _byte_characters()
"""For each byte, the character that represents it in byte-level tokens."""

_BYTE_OF_CHARACTER = {character: value for value, character in enumerate(BYTE_CHARACTERS)}


def decode_byte_level(spelling: str) -> bytes:
    """Decode a byte-level token."""
    try:
        return bytes([_BYTE_OF_CHARACTER[character] for character in spelling])
    except KeyError:  # a token spelled literally, although it is not listed as an added token
        return spelling.encode()


def decode_byte_fallback(spelling: str) -> bytes:
    """Decode a token of the layout with a byte fallback."""
    if byte := _BYTE_PIECE.fullmatch(spelling):
        return bytes([int(byte[1], 16)])
    return spelling.replace(SPACE_MARK, " ").encode()

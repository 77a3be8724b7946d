"""Load a tokenizer's file and validate every part of it."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pellucid.errors import UserError
from pellucid.tokenizers.alphabet import BYTES, SPACE_MARK, Alphabet, is_reserved
from pellucid.tokenizers.byte_pairs import BytePairs
from pellucid.tokenizers.tokenizer import FORMAT, SubwordModel, Tokenizer
from pellucid.tokenizers.unigram import Unigram
from pellucid.tokenizers.word_list import WordList

__all__ = ["load_tokenizer"]

T = TypeVar("T")

_KINDS = ("bpe", "unigram", "words", "characters")
_KIND_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
_CLASSES = ("letters", "unspaced", "digits", "symbols")


class _DamagedFile(Exception):
    """Something is wrong in a tokenizer's file."""


def load_tokenizer(path: str | Path) -> Tokenizer:
    """Read a tokenizer that `Tokenizer.save` wrote.

    Raises:
        UserError: if the file is missing, unreadable, damaged, or of another format or kind.
    """
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise UserError(
            f"cannot read the tokenizer {path}: {(error.strerror or str(error)).lower()}",
            where=str(path),
            hint="Check that the folder is a finished Pellucid model.",
        ) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, or not JSON
        raise _damaged(path, f"is damaged: not JSON ({error})") from error
    if not isinstance(content, dict) or "format" not in content or "alphabet" not in content:
        raise _damaged(path, "is not a Pellucid tokenizer (perhaps a file of the same name by other software)")
    if content["format"] != FORMAT:
        raise UserError(
            f"the tokenizer {path} has format {content['format']}, this version of Pellucid reads format {FORMAT}",
            where=str(path),
            hint="Use the version of Pellucid that created the model, or a newer one.",
        )
    if content.get("kind") not in _KINDS:
        raise _damaged(path, f"has the unknown kind {content.get('kind')!r}; known kinds are {', '.join(_KINDS)}")
    try:
        return _tokenizer(content)
    except _DamagedFile as damage:
        raise _damaged(path, f"is damaged: {damage}") from damage


def _damaged(path: str | Path, what: str) -> UserError:
    return UserError(
        f"the tokenizer {path} {what}", where=str(path), hint="Copy the model's folder again from the original."
    )


def _tokenizer(content: dict[str, Any]) -> Tokenizer:
    alphabet = _alphabet(content["alphabet"])
    model = _model(content["kind"], alphabet, _typed(content.get("model"), dict, "model"))
    trained_on = _typed(content.get("trained_on", {}), dict, "trained_on")
    if not all(isinstance(count, int) for count in trained_on.values()):
        raise _DamagedFile("trained_on has a value that is not a count")
    tokenizer = Tokenizer(alphabet, model, trained_on)
    if content.get("vocab_size") != tokenizer.vocab_size:
        raise _DamagedFile(f"vocab_size is {content.get('vocab_size')!r}, but the file has {tokenizer.vocab_size} ids")
    return tokenizer


def _alphabet(fields: Any) -> Alphabet:
    fields = _typed(fields, dict, "alphabet")
    if sorted(fields) != sorted(_CLASSES):
        raise _DamagedFile(f"the alphabet has {', '.join(fields) or 'nothing'} instead of {', '.join(_CLASSES)}")
    characters = "".join(_typed(fields[name], str, name) for name in _CLASSES)
    if len(set(characters)) != len(characters):
        raise _DamagedFile("a character occurs twice in the alphabet")
    if any(character == " " or is_reserved(character) for character in characters):
        raise _DamagedFile("the alphabet has a reserved character")
    return Alphabet(**{name: "".join(sorted(fields[name])) for name in _CLASSES})


def _model(kind: str, alphabet: Alphabet, fields: dict[str, Any]) -> SubwordModel:
    if kind == "bpe":
        return BytePairs(alphabet.base_symbols, _merges(fields.get("merges"), alphabet.base_symbols))
    if kind == "unigram":
        return Unigram(alphabet.base_symbols, _scores(fields.get("scores"), alphabet.base_symbols))
    if kind == "words":
        return WordList("words", alphabet.base_symbols, _words(fields.get("words"), alphabet.base_symbols))
    return WordList("characters", alphabet.base_symbols)


def _merges(entries: Any, base_symbols: Sequence[str]) -> list[tuple[str, str]]:
    known = set(base_symbols[len(BYTES) :])
    merges = []
    for entry in _typed(entries, list, "merges"):
        left, _, right = _typed(entry, str, "a merge").partition(" ")
        if left not in known or right not in known:
            raise _DamagedFile(f"the merge {entry!r} joins a piece that no earlier merge creates")
        known.add(left + right)
        merges.append((left, right))
    if len(set(merges)) != len(merges):
        raise _DamagedFile("a merge occurs twice")
    return merges


def _scores(entries: Any, base_symbols: Sequence[str]) -> dict[str, float]:
    characters = base_symbols[len(BYTES) :]
    known = set(characters)
    scores: dict[str, float] = {}
    for entry in _typed(entries, list, "scores"):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], float):
            raise _DamagedFile(f"{entry!r} is not a piece and its score")
        piece, score = _spelled(entry[0], known), entry[1]
        if not math.isfinite(score) or piece in scores:
            raise _DamagedFile(f"the piece {piece!r} occurs twice or has no finite score")
        scores[piece] = score
    if missing := [character for character in characters if character not in scores]:
        raise _DamagedFile(f"the character {missing[0]!r} has no score")
    return scores


def _words(entries: Any, base_symbols: Sequence[str]) -> list[str]:
    known = set(base_symbols[len(BYTES) :])
    words = [_spelled(entry, known) for entry in _typed(entries, list, "words")]
    if len(set(words)) != len(words) or any(len(word) < 2 for word in words):
        raise _DamagedFile("a word occurs twice or is a single character")
    return words


def _spelled(piece: Any, known: set[str]) -> str:
    if not _typed(piece, str, "a piece") or not known.issuperset(piece):
        raise _DamagedFile(f"the piece {piece!r} is not spelled with the alphabet and {SPACE_MARK}")
    return str(piece)


def _typed(value: Any, kind: type[T], name: str) -> T:
    if not isinstance(value, kind):
        raise _DamagedFile(f"{name} is missing or not {_KIND_NAMES[kind]}")
    return value

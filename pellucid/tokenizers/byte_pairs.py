"""Byte-pair encoding: the most frequent neighbouring pairs become pieces, one merge after another.

Merging and training are those of Hugging Face's `tokenizers`; only its bare model is used, without added or special
tokens, which text could spell.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, pre_tokenizers, trainers

from pellucid.tokenizers.alphabet import BYTES, SEPARATOR

__all__ = ["BytePairs", "learn_merges", "train_byte_pairs"]

Merge: TypeAlias = tuple[str, str]

_MIN_COUNT = 2  # a pair seen once is not typical of the language
_FEED_CHARACTERS = 100_000


class BytePairs:
    """Splits words by merging the neighbours whose merge was learned first, until none is left.

    Source:
        Sennrich, Haddow & Birch 2016, alg. 1.
    """

    kind: Literal["bpe"] = "bpe"

    def __init__(self, base_symbols: Sequence[str], merges: Sequence[Merge]) -> None:
        numbers = {character: number for number, character in enumerate(base_symbols)}
        for left, right in merges:
            numbers.setdefault(left + right, len(numbers))
        self.pieces = tuple(numbers)
        self._merges = tuple(merges)
        self._numbers = numbers
        self._rust = models.BPE(numbers, list(merges))
        self._ranks = {
            (numbers[left], numbers[right]): (rank, numbers[left + right]) for rank, (left, right) in enumerate(merges)
        }

    def split(self, word: str) -> list[int]:
        """Split a word into the numbers of its pieces."""
        return [token.id for token in self._rust.tokenize(word)]

    def split_with_dropout(self, word: str, dropout: float, random: Callable[[], float]) -> list[int]:
        """Split a word, skipping each possible merge with probability `dropout` (BPE-dropout).

        Args:
            dropout: 0 gives the same as `split`, 1 gives single symbols.
            random: returns the next random number, uniform in [0, 1).

        Source:
            Provilkov, Emelianenko & Voita 2020, alg. 1. Dropout is sampled only for merges whose rank would win, which
            gives the same distribution.
        """
        numbers = [self._numbers[character] for character in word]
        while len(numbers) > 1:
            best = (len(self._ranks), -1)
            position = -1
            for here, pair in enumerate(pairwise(numbers)):
                merge = self._ranks.get(pair)
                if merge is not None and merge < best and random() >= dropout:
                    best, position = merge, here
            if position < 0:
                break
            numbers[position : position + 2] = [best[1]]
        return numbers

    def as_dict(self) -> dict[str, object]:
        """What the file holds besides the alphabet: the merges in order, left and right separated by a space."""
        return {"merges": [f"{left} {right}" for left, right in self._merges]}


def train_byte_pairs(words: Mapping[str, int], base_symbols: Sequence[str], room: int) -> BytePairs:
    """Learn at most `room` new pieces from word counts; deterministic."""
    return BytePairs(base_symbols, learn_merges(words, base_symbols, room))


def learn_merges(words: Mapping[str, int], base_symbols: Sequence[str], room: int) -> list[Merge]:
    """Learn the merges, in order, that create at most `room` pieces of two symbols or more."""
    characters = base_symbols[len(BYTES) :]  # each byte is a word, so no merge includes bytes
    trainer = trainers.BpeTrainer(
        vocab_size=len(characters) + room,
        min_frequency=_MIN_COUNT,
        initial_alphabet=list(characters),
        special_tokens=[],
        show_progress=False,
    )
    rust = RustTokenizer(models.BPE())
    rust.pre_tokenizer = pre_tokenizers.Split(SEPARATOR, "removed")
    rust.train_from_iterator(_as_text(words), trainer)
    return [(left, right) for left, right in json.loads(rust.to_str())["model"]["merges"]]


def _as_text(words: Mapping[str, int]) -> Iterator[str]:
    """Repeat each word as often as it was counted: the trainer accepts only text."""
    for word, count in words.items():
        if len(word) == 1:
            continue
        at_once = max(1, _FEED_CHARACTERS // (len(word) + 1))
        for done in range(0, count, at_once):
            yield (word + SEPARATOR) * min(at_once, count - done)

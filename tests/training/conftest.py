"""Small generated text and small models for tests of training."""

from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

SMALL = {
    "model.d_model": 32,
    "model.n_heads": 2,
    "model.d_ff": 64,
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "model.dropout": 0.1,
    "training.batch_tokens": 200,
    "training.warmup_steps": 5,
    "training.log_steps": 2,
    "training.validations": 2,
    "training.validation_sentences": 4,
    "training.precision": "float32",
}

_NUMBERS = {"一": "one", "二": "two", "三": "three", "四": "four", "五": "five", "六": "six", "七": "seven"}
_COLOURS = {"红": "red", "白": "white", "黑": "black", "蓝": "blue"}
_THINGS = {"猫": "cats", "狗": "dogs", "鱼": "fish", "马": "horses", "书": "books"}


def generated_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return generated sentence pairs, all different: numbers, colours and things, up to three of them."""
    random = numpy.random.default_rng(seed)
    pairs: dict[str, str] = {}
    while len(pairs) < count:
        parts = []
        for _ in range(int(random.integers(1, 4))):
            number, colour, thing = (
                list(words.items())[int(random.integers(len(words)))] for words in (_NUMBERS, _COLOURS, _THINGS)
            )
            parts.append((f"{number[0]}只{colour[0]}{thing[0]}", f"{number[1]} {colour[1]} {thing[1]}"))
        pairs["和".join(source for source, _ in parts)] = " and ".join(target for _, target in parts)
    return list(pairs.items())


@pytest.fixture
def pairs_file(tmp_path: Path) -> Callable[..., Path]:
    """Write `count` generated pairs to a TSV file."""

    def write(count: int = 400, name: str = "pairs.tsv", seed: int = 0) -> Path:
        path = tmp_path / name
        text = "".join(f"{source}\t{target}\n" for source, target in generated_pairs(count, seed))
        path.write_text(text, encoding="utf-8")
        return path

    return write

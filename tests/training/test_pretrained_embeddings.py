"""Rows of a translator that start from word vectors, frozen or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import pellucid
from pellucid import WordVectors
from pellucid.errors import UsageError, UserError
from pellucid.storage.arrays import map_arrays, write_arrays
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.training.pretrained_embeddings import match_pieces
from pellucid.training.train_translator import train_translator

from .conftest import SMALL

PairsFile = Callable[..., Path]


def vectors_for(source: Path, folder: Path, dim: int = 32) -> WordVectors:
    words = sorted({word for line in source.read_text(encoding="utf-8").splitlines() for word in line.lower().split()})
    letters = sorted({letter for word in words for letter in word})
    names = list(dict.fromkeys([*words, *letters]))
    made = WordVectors(names, numpy.random.default_rng(1).normal(size=(len(names), dim)))
    made.save(folder)
    return made


def test_pieces_are_found_with_and_without_their_space_and_in_small_letters() -> None:
    tokenizer = train_tokenizer(["The cat", "the CAT", "a cat"] * 30, TokenizerConfig(vocab_size=320))
    vectors = WordVectors(["cat", "the", " a"], numpy.eye(3))
    ids, rows = match_pieces(tokenizer, vectors)
    found = {tokenizer.id_to_bytes(n).decode(): vectors.words[row] for n, row in zip(ids.tolist(), rows, strict=True)}
    assert found["the" if "the" in found else " the"] == "the"
    assert all(name.strip().lower() == word.strip() for name, word in found.items())


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("joint", [True, False])
def test_rows_start_from_vectors_and_stay_if_they_are_frozen(
    pairs_file: PairsFile, tmp_path: Path, frozen: bool, joint: bool
) -> None:
    source = pairs_file()
    vectors = vectors_for(source, tmp_path / "words")
    told: list[str] = []
    settings: dict[str, Any] = {
        **SMALL,
        "model.embeddings": str(tmp_path / "words"),
        "model.freeze_embeddings": frozen,
        "training.weight_decay": 0.1,
        "training.average_decay": None,
    }
    if not joint:
        settings |= {"tokenizer.joint": False, "model.tie_embeddings": "none"}
    for _ in train_translator([source], tmp_path / "model", settings=settings, steps=6, log=told.append):
        pass
    said = [line for line in told if line.startswith("Embeddings (")]
    assert len(said) == (1 if joint else 2)
    model = pellucid.load(tmp_path / "model")
    ids, rows = match_pieces(model.target_tokenizer, vectors)
    assert len(ids) > 10 and f"{len(ids):,} of" in said[-1]
    weight = model.model.target_embedding.weight.detach().numpy()[ids]
    wanted = vectors.input_vectors[rows]
    scaled = wanted / numpy.sqrt((wanted**2).sum(axis=1).mean())
    moved = numpy.abs(weight - scaled).max()
    assert moved < 1e-6 if frozen else moved > 1e-4


def test_vectors_of_another_size_are_refused_before_the_text_is_read(pairs_file: PairsFile, tmp_path: Path) -> None:
    vectors_for(pairs_file(), tmp_path / "words", dim=30)
    settings = {**SMALL, "model.embeddings": str(tmp_path / "words")}
    with pytest.raises(UserError, match=r"have 30 dimensions, but model\.d_model is 32"):
        train_translator(["missing.tsv"], tmp_path / "model", settings=settings, steps=6)
    with pytest.raises(UserError, match="no such"):
        train_translator(["a"], tmp_path / "m", settings={**SMALL, "model.embeddings": "nowhere"}, steps=6)


def test_what_is_odd_about_the_vectors_is_told_or_refused(pairs_file: PairsFile, tmp_path: Path) -> None:
    source = pairs_file()
    row = " ".join(["1.5"] * 32)
    (tmp_path / "v.txt").write_text(f"the {row}\nthe {row}\na {row}\n", encoding="utf-8")
    told: list[str] = []
    settings = {**SMALL, "model.embeddings": str(tmp_path / "v.txt")}
    for _ in train_translator([source], tmp_path / "model", settings=settings, steps=1, log=told.append):
        pass
    assert any("word vectors: the word 'the' is repeated, first in line 1" in line for line in told)
    WordVectors(["the", "a"], numpy.ones((2, 32))).save(tmp_path / "nan")
    path = tmp_path / "nan" / "model.safetensors"
    bad = numpy.full((2, 32), numpy.nan, numpy.float32)
    write_arrays(path, {**map_arrays(path), "input_vectors": bad})
    with pytest.raises(UserError, match=r"'the' .* contains NaN or infinity"):
        train_translator(
            [source], tmp_path / "m", settings={**SMALL, "model.embeddings": str(tmp_path / "nan")}, steps=1
        )
    with pytest.raises(UsageError, match="freeze_embeddings keeps rows that started from word vectors"):
        train_translator([source], tmp_path / "m", settings={**SMALL, "model.freeze_embeddings": True}, steps=1)


def test_a_translator_that_is_trained_on_keeps_its_rows(pairs_file: PairsFile, tmp_path: Path) -> None:
    source = pairs_file()
    for _ in train_translator([source], tmp_path / "one", settings=SMALL, steps=2):
        pass
    vectors_for(source, tmp_path / "words")
    with pytest.raises((UsageError, UserError)):
        train_translator(
            [source],
            tmp_path / "two",
            settings={"model.embeddings": str(tmp_path / "words")},
            start_from=tmp_path / "one",
            steps=2,
        )

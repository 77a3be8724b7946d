"""A model's embedding rows started from word vectors: each piece of the tokenizer that is one of their words.

A piece's word is its text, or that without the space before it, or that in small letters, whichever the vectors have
first. Vectors that were trained on the pieces themselves (`pellucid train vectors --tokenizer MODEL/tokenizer.json`)
cover nearly all of them. All rows are scaled by one number, so that their mean square length is 1, like that of drawn
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.storage.model_folder import read_json, write_json
from pellucid.tokenizers.tokenizer import SPECIAL_IDS, Tokenizer
from pellucid.word_vectors.segmenters import piece_to_word
from pellucid.word_vectors.vectors import WordVectors

__all__ = [
    "Coverage",
    "EmbeddingMatrix",
    "freeze_rows",
    "init_embeddings",
    "match_pieces",
    "open_vectors",
    "read_matched_rows",
    "translator_embeddings",
]

_FILE = "embeddings.json"


class EmbeddingMatrix(NamedTuple):
    """A matrix of rows that can start from vectors.

    Attributes:
        name: of the embedding in the model.
        side: what it is called for people: source, target, both, or text.
        weight: the rows.
        tokenizer: of their pieces.
        counts: occurrences of each id in the training text.
    """

    name: str
    side: str
    weight: nn.Parameter
    tokenizer: Tokenizer
    counts: NDArray[Any]


@dataclass(frozen=True)
class Coverage:
    """How much of a vocabulary the vectors cover.

    Attributes:
        side: source, target, both or text.
        pieces: how many the tokenizer has, special ones left out.
        matched: how many have a vector.
        tokens: share of the training text's tokens that these are.
    """

    side: str
    pieces: int
    matched: int
    tokens: float

    def as_line(self) -> str:
        """Return it as a sentence for people."""
        return (
            f"embeddings ({self.side}): {self.matched:,} of {self.pieces:,} pieces start from the word vectors, "
            f"{self.tokens:.0%} of the text's tokens"
        )


def open_vectors(path: str | Path, d_model: int) -> WordVectors:
    """Open the vectors that rows shall start from.

    Raises:
        UserError: if they cannot be read, have another number of numbers than the model, or some that are not finite.
    """
    from pellucid.word_vectors.files import read_vectors

    vectors = read_vectors(path)
    if vectors.dim != d_model:
        raise UserError(
            f"the word vectors have {vectors.dim} numbers each, and model.d_model is {d_model}",
            where=f"--model.embeddings {path}",
            hint=f"Train vectors with `-d {d_model}`, or set --model.d_model {vectors.dim} (n_heads must divide it).",
        )
    _ = vectors.search_index  # measured, so that what is not finite is refused
    return vectors


def match_pieces(tokenizer: Tokenizer, vectors: WordVectors) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """Return the ids of the pieces that have a vector, and the vectors' rows."""
    ids, rows = [], []
    for number in range(SPECIAL_IDS, tokenizer.vocab_size):
        name = piece_to_word(tokenizer.id_to_bytes(number))
        bare = name.removeprefix(" ")
        places = (vectors.vocabulary.find(word) for word in (name, bare, bare.lower()))
        found = next((row for row in places if row is not None), None)
        if found is not None and name:
            ids.append(number)
            rows.append(found)
    return numpy.array(ids, numpy.int64), numpy.array(rows, numpy.int64)


def init_embeddings(
    embeddings: Sequence[EmbeddingMatrix], vectors: WordVectors, folder: Path, log: Callable[[str], None]
) -> None:
    """Start the rows of matching pieces from the vectors, and note which these are.

    Args:
        embeddings: each matrix once.
        vectors: as wide as the matrices.
        folder: where a file is left from which `read_matched_rows` reads the rows.
        talk: told what is odd about the vectors, and how much of each vocabulary they cover.
    """
    for problem in vectors.report.problems if vectors.report else ():
        log(f"word vectors: {problem.message} ({problem.place})")
    noted = {}
    for name, side, weight, tokenizer, occurrences in embeddings:
        ids, rows = match_pieces(tokenizer, vectors)
        taken = torch.from_numpy(vectors.input_vectors[rows].astype(numpy.float32))
        scale = taken.square().sum(dim=1).mean().sqrt() if len(ids) else torch.tensor(1.0)
        with torch.no_grad():
            weight[torch.from_numpy(ids)] = taken / scale.clamp(min=1e-12)
        noted[name] = ids.tolist()
        share = float(occurrences[ids].sum() / max(1, occurrences[SPECIAL_IDS:].sum()))
        log(Coverage(side, tokenizer.vocab_size - SPECIAL_IDS, len(ids), share).as_line())
    write_json(folder / _FILE, noted)


def read_matched_rows(folder: Path) -> dict[str, list[int]]:
    """Return which rows of which embedding were started from vectors: source_embedding, target_embedding."""
    return {name: list(ids) for name, ids in read_json(folder / _FILE).items()}


def freeze_rows(model: nn.Module, optimizer: torch.optim.Optimizer, matched: dict[str, list[int]]) -> None:
    """Keep these rows as they are now through all updates of the optimizer, whatever its momentum and decay."""
    kept: list[tuple[nn.Parameter, Tensor, Tensor]] = []
    for name, ids in matched.items():
        weight = getattr(model, name).weight
        rows = torch.tensor(ids, dtype=torch.long, device=weight.device)
        kept.append((weight, rows, weight.detach()[rows].clone()))

    def put_back(*_: Any) -> None:
        with torch.no_grad():
            for weight, rows, values in kept:
                weight[rows] = values

    optimizer.register_step_post_hook(put_back)


def translator_embeddings(
    model: EncoderDecoder, tokenizers: tuple[Tokenizer, Tokenizer], counts: tuple[NDArray[Any], NDArray[Any]]
) -> list[EmbeddingMatrix]:
    """Return each embedding matrix once.

    Args:
        tokenizers: of source and target; the same one twice if they share it.
        counts: occurrences of each id in the training text, of source and target.
    """
    source, target = tokenizers
    if model.source_embedding is model.target_embedding:
        return [
            EmbeddingMatrix("target_embedding", "both", model.target_embedding.weight, target, counts[0] + counts[1])
        ]
    return [
        EmbeddingMatrix("source_embedding", "source", model.source_embedding.weight, source, counts[0]),
        EmbeddingMatrix("target_embedding", "target", model.target_embedding.weight, target, counts[1]),
    ]

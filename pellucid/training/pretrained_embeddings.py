"""Embedding rows initialised from word vectors, for every token of the vocabulary that has a word vector.

A piece matches a word by its text, else by its text without the leading space, else by that in lower case. Vectors
trained on the pieces themselves (`pellucid train vectors --tokenizer MODEL/tokenizer.json`) cover nearly all of them.
All rows are scaled by one number, so that their mean square length is 1, like that of randomly initialised rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pellucid.errors import UserError
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.storage.model_folder import read_json, write_json
from pellucid.tokenizers.model_tokenizers import TokenizerPair
from pellucid.tokenizers.tokenizer import SPECIAL_IDS, Tokenizer
from pellucid.training.request import Log
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.segmenters import piece_to_word

__all__ = [
    "EmbeddingMatrix",
    "freeze_matched_rows",
    "init_embeddings",
    "load_vectors",
    "match_pieces",
    "translator_embeddings",
]

_FILE = "embeddings.json"


class EmbeddingMatrix(NamedTuple):
    """An embedding matrix that can be initialised from vectors.

    Attributes:
        name: name of the embedding in the model.
        side: its name for the user: source, target, both, or text.
        weight: the matrix.
        tokenizer: tokenizer whose pieces the rows belong to.
        counts: occurrences of each id in the training text.
    """

    name: str
    side: str
    weight: nn.Parameter
    tokenizer: Tokenizer
    counts: NDArray[Any]


def load_vectors(path: str | Path, d_model: int) -> KeyedVectors:
    """Load the vectors to initialise rows from.

    Raises:
        UserError: if they cannot be read, are not of dimension `d_model`, or are not finite.
    """
    from pellucid.word_vectors.files import read_vectors

    vectors = read_vectors(path)
    if vectors.dim != d_model:
        raise UserError(
            f"the word vectors have {vectors.dim} dimensions, but model.d_model is {d_model}",
            where=f"--model.embeddings {path}",
            hint=f"Train vectors with `-d {d_model}`, or set --model.d_model {vectors.dim} (n_heads must divide it).",
        )
    vectors.check_finite()
    return vectors


def match_pieces(tokenizer: Tokenizer, vectors: KeyedVectors) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """Find the ids of the pieces that have a vector, and the rows of these vectors."""
    ids, rows = [], []
    for number in range(SPECIAL_IDS, tokenizer.vocab_size):
        name = piece_to_word(tokenizer.id_to_bytes(number))
        bare = name.removeprefix(" ")
        candidates = (vectors.vocabulary.find(word) for word in (name, bare, bare.lower()))
        found = next((row for row in candidates if row is not None), None)
        if found is not None and name:
            ids.append(number)
            rows.append(found)
    return numpy.array(ids, numpy.int64), numpy.array(rows, numpy.int64)


def init_embeddings(embeddings: Sequence[EmbeddingMatrix], vectors: KeyedVectors, folder: Path, log: Log) -> None:
    """Initialise the rows of matching pieces from the vectors, and record which these are.

    Args:
        embeddings: each matrix once.
        vectors: of the dimension of the matrices.
        folder: where `freeze_matched_rows` finds the record.
        log: called with problems of the vectors, and how much of each vocabulary they cover.
    """
    for problem in vectors.report.problems if vectors.report else ():
        log(f"word vectors: {problem.message} ({problem.where})")
    recorded = {}
    for name, side, weight, tokenizer, occurrences in embeddings:
        ids, rows = match_pieces(tokenizer, vectors)
        matched = torch.from_numpy(vectors.input_vectors[rows].astype(numpy.float32))
        scale = matched.square().sum(dim=1).mean().sqrt() if len(ids) else torch.tensor(1.0)
        with torch.no_grad():
            weight[torch.from_numpy(ids)] = matched / scale.clamp(min=1e-12)
        recorded[name] = ids.tolist()
        share = float(occurrences[ids].sum() / max(1, occurrences[SPECIAL_IDS:].sum()))
        log(
            f"Embeddings ({side}): {len(ids):,} of {tokenizer.vocab_size - SPECIAL_IDS:,} pieces initialised from word "
            f"vectors, {share:.0%} of the text's tokens"
        )
    write_json(folder / _FILE, recorded)


def freeze_matched_rows(model: nn.Module, optimizer: torch.optim.Optimizer, folder: Path) -> None:
    """Keep the rows that `init_embeddings` recorded in `folder` unchanged, despite momentum and weight decay."""
    frozen: list[tuple[nn.Parameter, Tensor]] = []
    for name, ids in read_json(folder / _FILE).items():
        weight = getattr(model, name).weight
        frozen.append((weight, torch.tensor(ids, dtype=torch.long, device=weight.device)))
    kept: list[Tensor] = []

    def keep(*_: Any) -> None:
        kept[:] = [weight.detach()[rows].clone() for weight, rows in frozen]

    def restore(*_: Any) -> None:
        with torch.no_grad():
            for (weight, rows), values in zip(frozen, kept, strict=True):
                weight[rows] = values

    optimizer.register_step_pre_hook(keep)
    optimizer.register_step_post_hook(restore)


def translator_embeddings(
    model: EncoderDecoder, tokenizers: TokenizerPair, counts: tuple[NDArray[Any], NDArray[Any]]
) -> list[EmbeddingMatrix]:
    """List the embedding matrices of a translator, each once.

    Args:
        counts: occurrences of each id in the training text, on the source and the target side.
    """
    source, target = tokenizers.source, tokenizers.target
    if model.source_embedding is model.target_embedding:
        return [
            EmbeddingMatrix("target_embedding", "both", model.target_embedding.weight, target, counts[0] + counts[1])
        ]
    return [
        EmbeddingMatrix("source_embedding", "source", model.source_embedding.weight, source, counts[0]),
        EmbeddingMatrix("target_embedding", "target", model.target_embedding.weight, target, counts[1]),
    ]

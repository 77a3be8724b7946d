"""Sentence pairs as ids on disk, memory-mapped so that they need not fit in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy
import torch
from numpy.typing import NDArray

from pellucid.alignment.lexicon import Lexicon
from pellucid.randomness import derive_seed
from pellucid.storage.id_store import IdStore
from pellucid.tokenizers.model_tokenizers import TokenizerPair
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.training.batches import PairBatch, pair_batch, plan_epoch

__all__ = ["PairDataset", "alignment_posteriors"]


@dataclass(frozen=True)
class PairDataset:
    """Aligned sequences of ids, each ending in the end token.

    Args:
        folder: holds the id stores `source` and `target`.
        dropout: share of BPE merges skipped at random in every epoch (BPE-dropout).
    """

    folder: Path
    tokenizers: TokenizerPair
    dropout: float = 0.0
    seed: int = 0

    @cached_property
    def source(self) -> IdStore:
        """Source sequences."""
        return IdStore(self.folder / "source")

    @cached_property
    def target(self) -> IdStore:
        """Target sequences."""
        return IdStore(self.folder / "target")

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def longest(self) -> NDArray[numpy.int64]:
        """Tokens of the longer side of each pair."""
        return numpy.maximum(self.source.lengths, self.target.lengths)

    def plan(self, batch_tokens: int, epoch: int) -> list[NDArray[numpy.int64]]:
        """Plan the batches of an epoch."""
        return plan_epoch(self.source.lengths, self.target.lengths, batch_tokens, self.seed, epoch)

    def batch(self, pairs: NDArray[numpy.int64], epoch: int, device: torch.device) -> PairBatch:
        """Load some pairs, padded."""
        source = [self.source[i] for i in pairs.tolist()]
        target = [self.target[i] for i in pairs.tolist()]
        if self.dropout:
            source = self._resegment(source, self.tokenizers.source, epoch, int(pairs[0]))
            target = self._resegment(target, self.tokenizers.target, epoch, int(pairs[0]))
        start_id, pad_id = self.tokenizers.target.start_id, self.tokenizers.target.pad_id
        return pair_batch(source, target, pairs, start_id, pad_id, device)

    def _resegment(
        self, sequences: Sequence[NDArray[numpy.int32]], tokenizer: Tokenizer, epoch: int, first: int
    ) -> list[NDArray[numpy.int32]]:
        """Split the same text into other pieces, as a function of (seed, epoch, first pair of the micro-batch)."""
        seed = derive_seed(self.seed, "merge dropout", epoch, first)
        has_placeholder = [any(piece in ids for piece in tokenizer.placeholder_ids) for ids in sequences]
        texts = [tokenizer.decode(ids.tolist()) for ids in sequences]
        encoded = tokenizer.encode_batch(texts, dropout=self.dropout, seed=seed)
        return [
            ids if keep else numpy.array([*pieces, tokenizer.end_id], numpy.int32)
            for ids, pieces, keep in zip(sequences, encoded, has_placeholder, strict=True)
        ]


def alignment_posteriors(lexicon: Lexicon, batch: PairBatch) -> torch.Tensor:
    """Compute the probability that a target token is aligned to a source token, [batch, target, source]."""
    found = lexicon.batch_posteriors(
        batch.source.numpy(force=True), batch.source_lengths, batch.target_out.numpy(force=True), batch.target_lengths
    )
    return torch.from_numpy(found).to(batch.source.device)

"""The pairs that a run trains on, as ids on disk: read in place, so that they need not fit in memory."""

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
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.training.batches import PairBatch, pair_batch, plan_epoch

__all__ = ["PairDataset", "TokenizerPair", "posteriors"]


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of both languages; one and the same if it is joint."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether both languages share one."""
        return self.source is self.target


@dataclass(frozen=True)
class PairDataset:
    """Aligned sequences of ids, each ending in the end token.

    Args:
        folder: holds `source` and `target` (id stores).
        tokenizers: that made them.
        dropout: share of BPE merges left out anew in every epoch (BPE-dropout).
        seed: of the run.
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
        """Return the batches of an epoch."""
        return plan_epoch(self.source.lengths, self.target.lengths, batch_tokens, self.seed, epoch)

    def batch(self, pairs: NDArray[numpy.int64], epoch: int, device: torch.device) -> PairBatch:
        """Return some pairs, padded."""
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
        """Split the same text into other pieces, a function of (seed, epoch, first pair of the part that passes)."""
        seed = derive_seed(self.seed, "merge dropout", epoch, first)
        kept = [any(piece in ids for piece in tokenizer.placeholder_ids) for ids in sequences]
        texts = [tokenizer.decode(ids.tolist()) for ids in sequences]
        anew = tokenizer.encode_batch(texts, dropout=self.dropout, seed=seed)
        return [
            ids if keep else numpy.array([*pieces, tokenizer.end_id], numpy.int32)
            for ids, pieces, keep in zip(sequences, anew, kept, strict=True)
        ]


def posteriors(lexicon: Lexicon, batch: PairBatch) -> torch.Tensor:
    """Return how probably each source token is the origin of each target token, [batch, target, source]."""
    found = lexicon.batch_posteriors(
        batch.source.numpy(force=True), batch.source_lengths, batch.target_out.numpy(force=True), batch.target_lengths
    )
    return torch.from_numpy(found).to(batch.source.device)

"""Constraints on the next token of a translation: the logits of forbidden tokens are set to −inf."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pellucid.generation.batching import pad_rows
from pellucid.generation.generation_config import GenerationConfig

__all__ = ["Constraints", "SpecialTokens"]


class SpecialTokens(NamedTuple):
    """The special ids of a vocabulary."""

    pad_id: int
    start_id: int
    end_id: int
    placeholder_ids: Sequence[int] = ()


@dataclass(frozen=True)
class Constraints:
    """The constraints on the translations of a batch of sentences.

    Attributes:
        longest: most tokens of each translation, without the end token, [batch].
        prefixes: ids each translation must begin with, −1 after them, [batch prefix].
        placeholder_ids: ids that stand for placeholders, [placeholders].
        placeholder_counts: how often each of them occurs in each source, [batch placeholders].
    """

    special_tokens: SpecialTokens
    min_length: int
    no_repeat_ngram: int
    longest: Int[Tensor, " batch"]
    prefixes: Int[Tensor, "batch prefix"]
    placeholder_ids: Int[Tensor, " placeholders"]
    placeholder_counts: Int[Tensor, "batch placeholders"]

    @classmethod
    def of(
        cls,
        source: Int[Tensor, "batch source"],
        special_tokens: SpecialTokens,
        config: GenerationConfig,
        prefixes: Sequence[Sequence[int]],
        position_limit: int | None,
    ) -> "Constraints":
        """Build the constraints for a batch of sources.

        Args:
            source: padded ids, each ending in the end token.
            prefixes: ids each translation must begin with.
            position_limit: how many target positions the model has, start token included; None: any number.
        """
        lengths = (source != special_tokens.pad_id).sum(1) - 1
        longest = [
            max(config.max_length(tokens), len(prefix) + config.max_length_extra)
            for tokens, prefix in zip(lengths.tolist(), prefixes, strict=True)
        ]
        if position_limit is not None:
            longest = [min(length, position_limit - 1) for length in longest]
        placeholders = torch.tensor(list(special_tokens.placeholder_ids), dtype=torch.int64, device=source.device)
        return cls(
            special_tokens,
            config.min_length,
            config.no_repeat_ngram,
            torch.tensor(longest, device=source.device),
            pad_rows(prefixes, -1, source.device),
            placeholders,
            (source[:, :, None] == placeholders).sum(1),
        )

    def apply(
        self, logits: Float[Tensor, "batch hypotheses vocab_size"], ids: Int[Tensor, "batch hypotheses step"]
    ) -> None:
        """Set the logits of tokens that must not follow `ids` to −inf, in place."""
        step = ids.shape[-1]
        logits[:, :, [self.special_tokens.pad_id, self.special_tokens.start_id]] = -torch.inf
        if step < self.min_length:
            logits[:, :, self.special_tokens.end_id] = -torch.inf
        if len(self.placeholder_ids):
            used = (ids[:, :, :, None] == self.placeholder_ids).sum(2)
            spent = used >= self.placeholder_counts[:, None]
            logits[:, :, self.placeholder_ids] = logits[:, :, self.placeholder_ids].masked_fill(spent, -torch.inf)
        if 0 < self.no_repeat_ngram <= step:
            logits.masked_fill_(_would_repeat(ids, self.no_repeat_ngram, logits.shape[-1]), -torch.inf)
        if step < self.prefixes.shape[1]:
            forced = self.prefixes[:, step]
            others = torch.arange(logits.shape[-1], device=logits.device) != forced[:, None]
            logits.masked_fill_((others & (forced >= 0)[:, None])[:, None], -torch.inf)

    def select(self, sentences: Int[Tensor, " left"]) -> "Constraints":
        """Keep these sentences only."""
        return replace(
            self,
            longest=self.longest[sentences],
            prefixes=self.prefixes[sentences],
            placeholder_counts=self.placeholder_counts[sentences],
        )


def _would_repeat(ids: Tensor, n: int, vocab_size: int) -> Tensor:
    """Find the tokens that would complete a sequence of `n` tokens that `ids` already contains."""
    held = ids.unfold(2, n, 1)  # [batch hypotheses start n]
    tail = ids[:, :, ids.shape[-1] - n + 1 :]
    same_start = (held[..., :-1] == tail[:, :, None]).all(-1)
    last = held[..., -1].where(same_start, vocab_size)  # the extra column collects what does not match
    repeats = torch.zeros(*ids.shape[:2], vocab_size + 1, dtype=torch.bool, device=ids.device)
    return repeats.scatter_(2, last, True)[:, :, :-1]

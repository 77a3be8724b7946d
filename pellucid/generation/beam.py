"""Beam search: find the most probable translations by keeping a few hypotheses per sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pellucid.generation.attention_alignment import AlignmentHeads
from pellucid.generation.batching import pad_rows
from pellucid.generation.constraints import Constraints, SpecialTokens
from pellucid.generation.generation_config import GenerationConfig
from pellucid.layers.taps import SelectiveTap, Tap, keep
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["BeamStep", "CachedDecoder", "Hypothesis", "NewDecoder", "Observer", "StepDecoder", "beam_search"]


@dataclass(frozen=True)
class Hypothesis:
    """A translation as ids, with its probability under the model.

    Attributes:
        ids: without start and end token.
        token_log_probs: natural logarithm of each token's probability given those before it; the end token's comes
            last, if the hypothesis ended.
        score: sum of `token_log_probs` / length^α, where the length counts the end token.
        ended: False if it was cut at its maximum length.
        coverage: total attention that each source token received from the target tokens, averaged over
            `alignment_heads`; empty if none were given.
    """

    ids: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    score: float
    ended: bool
    coverage: tuple[float, ...] = ()

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the probability of the whole translation."""
        return sum(self.token_log_probs)


class BeamStep(NamedTuple):
    """The candidates of one step and the choice among them, for observers of the search.

    Attributes:
        log_probs: log-probability of each open hypothesis before the step, −inf if there is none, [batch hypotheses].
        continuations: log-probability of each with one of its most probable next tokens, [batch hypotheses n].
        tokens: these tokens, [batch hypotheses n].
        parents: index of the hypothesis that each new one extends, [batch hypotheses].
        kept: token appended to it, [batch hypotheses].
        ends: log-probability of each open hypothesis with its end token, [batch hypotheses].
        ended: True where the ended hypothesis was kept, [batch hypotheses].
    """

    log_probs: Float[Tensor, "batch hypotheses"]
    continuations: Float[Tensor, "batch hypotheses n"]
    tokens: Int[Tensor, "batch hypotheses n"]
    parents: Int[Tensor, "batch hypotheses"]
    kept: Int[Tensor, "batch hypotheses"]
    ends: Float[Tensor, "batch hypotheses"]
    ended: Bool[Tensor, "batch hypotheses"]


Observer = Callable[[BeamStep], object]
"""Called with every step of a search."""


class StepDecoder(Protocol):
    """What the search asks of a model: the logits after each hypothesis, step by step."""

    @property
    def coverage(self) -> Float[Tensor, "batch hypotheses source"] | None:
        """Attention that each source token has received before this step; None if it is not tracked."""

    def logits(self, ids: Int[Tensor, "batch hypotheses step"]) -> Float[Tensor, "batch hypotheses vocab_size"]:
        """Compute the logits of the next token; `ids` begins with the start token and grows by one a call."""

    def reorder(self, parents: Int[Tensor, "batch hypotheses"]) -> None:
        """Make each hypothesis descend from the given one of the same sentence."""

    def select(self, sentences: Int[Tensor, " left"]) -> None:
        """Keep these sentences only."""


class CachedDecoder:
    """The network with a key–value cache, which all hypotheses of a sentence share.

    Args:
        source: padded ids.
        alignment_heads: heads whose attention is summed up as coverage; none: it is not tracked.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        source: Int[Tensor, "batch source"],
        hypotheses: int,
        alignment_heads: AlignmentHeads = (),
    ) -> None:
        self.coverage: Tensor | None = None
        self._model = model
        self._cache = model.start_cache(model.encode(source), hypotheses)
        self._heads = alignment_heads
        self._weights: dict[tuple[int, int], Tensor] = {}  # of this step, by head
        self._tap: Tap = keep
        if alignment_heads:
            self.coverage = torch.zeros(len(source), hypotheses, source.shape[1], device=source.device)
            names = {f"decoder.{layer}.cross_attention.weights" for layer, _ in alignment_heads}
            self._tap = SelectiveTap(names, self._record)

    def logits(self, ids: Int[Tensor, "batch hypotheses step"]) -> Float[Tensor, "batch hypotheses vocab_size"]:
        """Decode one step further and compute the logits of the next token."""
        return self._model.logits(self._model.decode_step(ids[:, :, -1], self._cache, self._tap))

    def reorder(self, parents: Int[Tensor, "batch hypotheses"]) -> None:
        """Make each hypothesis descend from the given one of the same sentence."""
        self._cache.reorder(parents)
        if self.coverage is not None:
            weights = torch.stack([self._weights[head] for head in self._heads]).mean(0)
            rows = parents[:, :, None].expand_as(self.coverage)
            self.coverage = (self.coverage + weights).gather(1, rows)

    def select(self, sentences: Int[Tensor, " left"]) -> None:
        """Keep these sentences only."""
        self._cache.select(sentences)
        if self.coverage is not None:
            self.coverage = self.coverage[sentences]

    def _record(self, name: str, weights: Tensor) -> Tensor:
        layer = int(name.split(".")[1])
        self._weights.update({(at, head): weights[:, head].float() for at, head in self._heads if at == layer})
        return weights


NewDecoder = Callable[[EncoderDecoder, Tensor, int, AlignmentHeads], StepDecoder]
"""Creates a decoder of a model, for padded sources and a number of hypotheses per sentence."""


@torch.inference_mode()
def beam_search(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int]],
    special_tokens: SpecialTokens,
    config: GenerationConfig,
    prefixes: Sequence[Sequence[int]] | None = None,
    *,
    observer: Observer | None = None,
    alignment_heads: AlignmentHeads = (),
    new_decoder: NewDecoder = CachedDecoder,
) -> list[list[Hypothesis]]:
    """Find the `n_best` best hypotheses of each source, best first.

    A step appends one token to each of the `beam` open hypotheses of a sentence and keeps the `beam` most probable
    results. A hypothesis whose end token is among the `beam` most probable continuations has ended; the others stay
    open. A sentence is done when `beam` hypotheses have ended, when no open one can still overtake the `n_best`-th of
    the ended ones (its log-probability only falls, so log_prob / longest^α bounds its score), or at its maximum
    length; open hypotheses are then used only if too few have ended. A beam of 1 is greedy search.

    Args:
        sources: ids of each sentence, ending in the end token; none empty.
        special_tokens: placeholders are generated at most as often as they occur in the source.
        config: its `batch_tokens` is not used: all sentences are translated at once.
        prefixes: ids that each translation must begin with; their log-probabilities count like any others.
        observer: called with every step, for the sentences that are not done.
        alignment_heads: (layer, head) of the heads whose attention becomes the `coverage` of the hypotheses.

    Source:
        Wu et al. 2016, §7 for length normalisation, here by length^α; Huang et al. 2017 for the optimal stopping
        criterion.
    """
    source = pad_rows(sources, special_tokens.pad_id, model.target_embedding.weight.device)
    limit = model.config.position_limit
    constraints = Constraints.of(source, special_tokens, config, prefixes or [()] * len(sources), limit)
    decoder = new_decoder(model, source, config.beam, alignment_heads)
    beam = _Beam(source, special_tokens, config, observer)
    while len(beam.sentences):
        logits = decoder.logits(beam.history).float()
        normalisers = logits.logsumexp(-1, keepdim=True)
        constraints.apply(logits, beam.ids)
        decoder.reorder(beam.advance(logits, normalisers, constraints.longest, decoder.coverage))
        if (open_rows := beam.compact()) is not None:
            decoder.select(open_rows)
            constraints = constraints.select(open_rows)
    return beam.results


class _Beam:
    """The open hypotheses of all sentences that are not done, and those that have ended.

    Attributes:
        sentences: index of each row's sentence, [batch].
        ids: ids of each hypothesis so far, [batch hypotheses step].
        token_log_probs: log-probability of each of these ids, [batch hypotheses step].
        log_probs: their sums; −inf marks a hypothesis that does not exist, [batch hypotheses].
        best_scores: scores of the best `n_best` ended hypotheses, −inf where there is none yet, [batch n_best].
        ended_counts: number of ended hypotheses, [batch].
        done: True for sentences whose search is over, [batch].
        results: the best hypotheses of each sentence so far.
    """

    def __init__(
        self, source: Tensor, special_tokens: SpecialTokens, config: GenerationConfig, observer: Observer | None
    ) -> None:
        batch, device = len(source), source.device
        self.config, self.special_tokens, self.observer = config, special_tokens, observer
        self.source_lengths: list[int] = (source != special_tokens.pad_id).sum(1).tolist()
        self.sentences = torch.arange(batch, device=device)
        self.ids = torch.empty(batch, config.beam, 0, dtype=torch.int64, device=device)
        self.token_log_probs = torch.empty(batch, config.beam, 0, device=device)
        self.log_probs = torch.full((batch, config.beam), -torch.inf, device=device)
        self.log_probs[:, 0] = 0.0  # one empty hypothesis per sentence
        self.best_scores = torch.full((batch, config.n_best), -torch.inf, device=device)
        self.ended_counts = torch.zeros(batch, dtype=torch.int64, device=device)
        self.done = torch.zeros(batch, dtype=torch.bool, device=device)
        self.results: list[list[Hypothesis]] = [[] for _ in range(batch)]

    @property
    def history(self) -> Int[Tensor, "batch hypotheses step"]:
        """The start token and the ids of each hypothesis: what the decoder reads."""
        starts = torch.full((*self.log_probs.shape, 1), self.special_tokens.start_id, device=self.ids.device)
        return torch.cat((starts, self.ids), dim=-1)

    def advance(
        self,
        logits: Float[Tensor, "batch hypotheses vocab_size"],
        normalisers: Float[Tensor, "batch hypotheses 1"],
        longest: Int[Tensor, " batch"],
        coverage: Float[Tensor, "batch hypotheses source"] | None,
    ) -> Int[Tensor, "batch hypotheses"]:
        """Take one step; return the index of the hypothesis that each new one extends.

        Args:
            logits: logits of the next token, −inf for forbidden ones; those of the end token are overwritten.
            normalisers: logsumexp of the logits before anything was forbidden.
            longest: maximum length of each translation in tokens, without the end token.
        """
        beam, step = self.config.beam, self.ids.shape[-1]
        ends = self.log_probs + logits[:, :, self.special_tokens.end_id] - normalisers[:, :, 0]
        logits[:, :, self.special_tokens.end_id] = -torch.inf
        best, tokens = logits.topk(min(beam, logits.shape[-1]))
        best = best - normalisers
        totals, columns = (self.log_probs[:, :, None] + best).flatten(1).topk(beam)
        parents = columns // best.shape[-1]

        last_kept = torch.cat((totals, ends), dim=1).topk(beam).values[:, -1:]
        ended = (ends >= last_kept) & ends.isfinite() & ~self.done[:, None]
        self._keep_ended(ends, ended, coverage)
        at_limit = (step >= longest) | ~totals[:, 0].isfinite()
        self._keep_cut(self.log_probs.isfinite() & ~ended & (at_limit & ~self.done)[:, None], coverage)
        bound = totals[:, 0] / (longest + 1) ** self.config.length_penalty
        self.done = self.done | at_limit | (self.ended_counts >= beam) | (self.best_scores[:, -1] >= bound)

        kept = tokens.flatten(1).gather(1, columns)
        if self.observer is not None:
            continuations = self.log_probs[:, :, None] + best
            self.observer(BeamStep(self.log_probs, continuations, tokens, parents, kept, ends, ended))
        self.ids = _extended(self.ids, parents, kept)
        self.token_log_probs = _extended(self.token_log_probs, parents, best.flatten(1).gather(1, columns))
        self.log_probs = totals
        return parents

    def compact(self) -> Int[Tensor, " left"] | None:
        """Drop finished sentences once they are at least half of all; return the rows that stay, None if all do."""
        open_rows = (~self.done).nonzero().flatten()
        if 2 * len(open_rows) > len(self.done):
            return None
        for name in ("sentences", "ids", "token_log_probs", "log_probs", "best_scores", "ended_counts", "done"):
            setattr(self, name, getattr(self, name)[open_rows])
        return open_rows

    def _keep_ended(self, ends: Tensor, ended: Tensor, coverage: Tensor | None) -> None:
        length = self.ids.shape[-1] + 1
        scores = (ends / length**self.config.length_penalty).masked_fill(~ended, -torch.inf)
        self.best_scores = torch.cat((self.best_scores, scores), dim=1).topk(self.config.n_best).values
        self.ended_counts = self.ended_counts + ended.sum(1)
        for row, column in ended.nonzero().tolist():
            last = float(ends[row, column] - self.log_probs[row, column])
            self._keep(row, column, float(scores[row, column]), last, coverage)

    def _keep_cut(self, cut: Tensor, coverage: Tensor | None) -> None:
        scores = self.log_probs / max(1, self.ids.shape[-1]) ** self.config.length_penalty
        for row, column in cut.nonzero().tolist():
            self._keep(row, column, float(scores[row, column]), None, coverage)

    def _keep(self, row: int, column: int, score: float, end_log_prob: float | None, coverage: Tensor | None) -> None:
        sentence = int(self.sentences[row])
        log_probs = self.token_log_probs[row, column].tolist()
        if end_log_prob is not None:
            log_probs.append(end_log_prob)
        covered = () if coverage is None else tuple(coverage[row, column, : self.source_lengths[sentence]].tolist())
        ids = tuple(self.ids[row, column].tolist())
        kept = self.results[sentence]
        kept.append(Hypothesis(ids, tuple(log_probs), score, end_log_prob is not None, covered))
        kept.sort(key=lambda hypothesis: (not hypothesis.ended, -hypothesis.score))
        del kept[self.config.n_best :]


def _extended(
    history: Shaped[Tensor, "batch hypotheses step"],
    parents: Int[Tensor, "batch hypotheses"],
    new: Shaped[Tensor, "batch hypotheses"],
) -> Shaped[Tensor, "batch hypotheses step+1"]:
    """Append new values to the histories of the parents."""
    inherited = history.gather(1, parents[:, :, None].expand(-1, -1, history.shape[-1]))
    return torch.cat((inherited, new[:, :, None]), dim=-1)

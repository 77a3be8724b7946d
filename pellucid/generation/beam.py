"""Beam search: the most probable translations that a narrow search finds, for many sentences at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from pellucid.generation.constraints import Constraints, SpecialTokens, pad_rows
from pellucid.generation.generation_config import GenerationConfig
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["BeamStep", "Hypothesis", "SpecialTokens", "beam_search"]


@dataclass(frozen=True)
class Hypothesis:
    """A translation as ids, and how probable the model finds it.

    Attributes:
        ids: without start and end.
        token_log_probs: natural logarithm of each token's probability given those before; the end's last, if it ended.
        score: sum of `token_log_probs` / length^α, the length counting the end.
        ended: False if it was cut at its longest length.
    """

    ids: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    score: float
    ended: bool

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the probability of the whole."""
        return sum(self.token_log_probs)


class BeamStep(NamedTuple):
    """What a step of the search weighed, for those who watch it.

    Attributes:
        log_probs: of each open hypothesis before the step, −inf where there is none, [batch hypotheses].
        continuations: log-probability of each with one of its most probable next tokens, [batch hypotheses n].
        tokens: these tokens, [batch hypotheses n].
        parents: which hypothesis each kept one continues, [batch hypotheses].
        kept: by which token, [batch hypotheses].
        kept_log_probs: of what was kept, [batch hypotheses].
        ends: log-probability of each open hypothesis with its end, [batch hypotheses].
        ended: where that was kept, [batch hypotheses].
    """

    log_probs: Float[Tensor, "batch hypotheses"]
    continuations: Float[Tensor, "batch hypotheses n"]
    tokens: Int[Tensor, "batch hypotheses n"]
    parents: Int[Tensor, "batch hypotheses"]
    kept: Int[Tensor, "batch hypotheses"]
    kept_log_probs: Float[Tensor, "batch hypotheses"]
    ends: Float[Tensor, "batch hypotheses"]
    ended: Bool[Tensor, "batch hypotheses"]


Watch = Callable[[BeamStep], object]


@torch.inference_mode()
def beam_search(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int]],
    special_tokens: SpecialTokens,
    config: GenerationConfig,
    prefixes: Sequence[Sequence[int]] | None = None,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """Return the `n_best` best hypotheses found for each source, best first.

    A step appends one token to each of `beam` open hypotheses of a sentence and keeps the `beam` most probable
    results. One whose end is among the `beam` most probable continuations has ended; the others go on. A sentence is
    done when `beam` hypotheses have ended, when no open one can still come before the `n_best`-th of the ended ones
    (its log-probability only falls, so log_prob / longest^α bounds its score), or at its longest length; what is open
    then counts only where too few have ended. A beam of 1 is greedy search.

    Args:
        model: in the mode and precision it shall run in.
        sources: ids of each sentence, ending in the end token; none empty.
        symbols: ids with a meaning; placeholders are generated at most as often as the source has them.
        config: its `batch_tokens` is not heeded: all sentences go at once.
        prefixes: ids that each translation must begin with; their log-probabilities count like any others.
        watch: shown every step, of those sentences that are not done.

    Source:
        Wu et al. 2016, §7 for length normalisation, here by length^α; Huang et al. 2017 for stopping once it is exact.
    """
    source = pad_rows(sources, special_tokens.pad_id, model.target_embedding.weight.device)
    constraints = Constraints.of(
        source, special_tokens, config, prefixes or [()] * len(sources), _most_positions(model)
    )
    cache = model.start_cache(model.encode(source), config.beam)
    beam = _Beam.start(source, special_tokens, config)
    beam.watch = watch
    while len(beam.sentences):
        logits = model.logits(model.decode_step(beam.last_ids, cache)).float()
        normalisers = logits.logsumexp(-1, keepdim=True)
        constraints.apply(logits, beam.ids)
        cache.reorder(beam.advance(logits, normalisers, constraints.longest))
        if (going := beam.compact()) is not None:
            cache.select(going)
            constraints = constraints.select(going)
    return beam.results


def _most_positions(model: EncoderDecoder) -> int | None:
    return model.config.max_positions if model.config.positions == "learned" else None


@dataclass
class _Beam:
    """The open hypotheses of all sentences that are not done, and what has ended.

    Attributes:
        sentences: which sentences these rows are, [batch].
        ids: what each hypothesis holds so far, [batch hypotheses step].
        token_log_probs: the log-probability of each of these, [batch hypotheses step].
        log_probs: their sums; −inf marks a hypothesis that does not exist, [batch hypotheses].
        best_scores: the scores of the best `n_best` ended ones, −inf where there is none yet, [batch n_best].
        ended_counts: how many have ended, [batch].
        done: sentences whose search is over, [batch].
        watch: shown every step.
    """

    config: GenerationConfig
    special_tokens: SpecialTokens
    sentences: Int[Tensor, " batch"]
    ids: Int[Tensor, "batch hypotheses step"]
    token_log_probs: Float[Tensor, "batch hypotheses step"]
    log_probs: Float[Tensor, "batch hypotheses"]
    best_scores: Float[Tensor, "batch n_best"]
    ended_counts: Int[Tensor, " batch"]
    done: Bool[Tensor, " batch"]
    results: list[list[Hypothesis]] = field(default_factory=list)
    watch: Watch | None = None

    @classmethod
    def start(cls, source: Tensor, special_tokens: SpecialTokens, config: GenerationConfig) -> "_Beam":
        batch, device = len(source), source.device
        log_probs = torch.full((batch, config.beam), -torch.inf, device=device)
        log_probs[:, 0] = 0.0  # one empty hypothesis a sentence
        return cls(
            config,
            special_tokens,
            torch.arange(batch, device=device),
            torch.empty(batch, config.beam, 0, dtype=torch.int64, device=device),
            torch.empty(batch, config.beam, 0, device=device),
            log_probs,
            torch.full((batch, config.n_best), -torch.inf, device=device),
            torch.zeros(batch, dtype=torch.int64, device=device),
            torch.zeros(batch, dtype=torch.bool, device=device),
            [[] for _ in range(batch)],
        )

    @property
    def last_ids(self) -> Int[Tensor, "batch hypotheses"]:
        """The token each hypothesis ends in: what the decoder reads next."""
        if self.ids.shape[-1]:
            return self.ids[:, :, -1]
        return torch.full(self.log_probs.shape, self.special_tokens.start_id, device=self.ids.device)

    def advance(
        self,
        logits: Float[Tensor, "batch hypotheses vocab_size"],
        normalisers: Float[Tensor, "batch hypotheses 1"],
        longest: Int[Tensor, " batch"],
    ) -> Int[Tensor, "batch hypotheses"]:
        """Take one step; return which hypothesis each new one descends from.

        Args:
            logits: of each next token, −inf for what may not follow; the end's are overwritten.
            normalisers: logsumexp of the logits before anything was forbidden.
            longest: most tokens of each sentence's translation without the end.
        """
        beam, step = self.config.beam, self.ids.shape[-1]
        ends = self.log_probs + logits[:, :, self.special_tokens.end_id] - normalisers[:, :, 0]
        logits[:, :, self.special_tokens.end_id] = -torch.inf
        best, tokens = logits.topk(min(beam, logits.shape[-1]))
        best = best - normalisers
        totals, places = (self.log_probs[:, :, None] + best).flatten(1).topk(beam)
        parents = places // best.shape[-1]

        last_kept = torch.cat((totals, ends), dim=1).topk(beam).values[:, -1:]
        ended = (ends >= last_kept) & ends.isfinite() & ~self.done[:, None]
        self._keep_ended(ends, ended)
        at_limit = (step >= longest) | ~totals[:, 0].isfinite()
        self._keep_cut(self.log_probs.isfinite() & ~ended & (at_limit & ~self.done)[:, None])
        bound = totals[:, 0] / (longest + 1) ** self.config.length_penalty
        self.done = self.done | at_limit | (self.ended_counts >= beam) | (self.best_scores[:, -1] >= bound)

        kept = tokens.flatten(1).gather(1, places)
        if self.watch is not None:
            weighed = self.log_probs[:, :, None] + best
            self.watch(BeamStep(self.log_probs, weighed, tokens, parents, kept, totals, ends, ended))
        self.ids = _longer(self.ids, parents, kept)
        self.token_log_probs = _longer(self.token_log_probs, parents, best.flatten(1).gather(1, places))
        self.log_probs = totals
        return parents

    def compact(self) -> Int[Tensor, " left"] | None:
        """Drop the sentences that are done, once they are half of all; return which rows stay, None if all do."""
        going = (~self.done).nonzero().flatten()
        if 2 * len(going) > len(self.done):
            return None
        for name in ("sentences", "ids", "token_log_probs", "log_probs", "best_scores", "ended_counts", "done"):
            setattr(self, name, getattr(self, name)[going])
        return going

    def _keep_ended(self, ends: Float[Tensor, "batch hypotheses"], ended: Bool[Tensor, "batch hypotheses"]) -> None:
        length = self.ids.shape[-1] + 1
        scores = (ends / length**self.config.length_penalty).masked_fill(~ended, -torch.inf)
        self.best_scores = torch.cat((self.best_scores, scores), dim=1).topk(self.config.n_best).values
        self.ended_counts = self.ended_counts + ended.sum(1)
        for row, column in ended.nonzero().tolist():
            last = float(ends[row, column] - self.log_probs[row, column])
            self._keep(row, column, float(scores[row, column]), last)

    def _keep_cut(self, cut: Bool[Tensor, "batch hypotheses"]) -> None:
        scores = self.log_probs / max(1, self.ids.shape[-1]) ** self.config.length_penalty
        for row, column in cut.nonzero().tolist():
            self._keep(row, column, float(scores[row, column]), None)

    def _keep(self, row: int, column: int, score: float, end_log_prob: float | None) -> None:
        log_probs = self.token_log_probs[row, column].tolist()
        if end_log_prob is not None:
            log_probs.append(end_log_prob)
        ids = tuple(self.ids[row, column].tolist())
        kept = self.results[int(self.sentences[row])]
        kept.append(Hypothesis(ids, tuple(log_probs), score, ended=end_log_prob is not None))
        kept.sort(key=lambda hypothesis: (not hypothesis.ended, -hypothesis.score))
        del kept[self.config.n_best :]


def _longer(
    history: Shaped[Tensor, "batch hypotheses step"],
    parents: Int[Tensor, "batch hypotheses"],
    new: Shaped[Tensor, "batch hypotheses"],
) -> Shaped[Tensor, "batch hypotheses step+1"]:
    """Return the parents' histories, each with what is new at its end."""
    inherited = history.gather(1, parents[:, :, None].expand(-1, -1, history.shape[-1]))
    return torch.cat((inherited, new[:, :, None]), dim=-1)

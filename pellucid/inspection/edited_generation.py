"""What an edited model writes: the ordinary search and sampling, with a decoder that applies the edits.

The decoder runs the model over the whole prefix at every step instead of on a cache, so that an edit of a position acts
as it does in a look.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from pellucid.generation.beam import beam_search
from pellucid.generation.continuation import ContextWindow, Continuation, run_continuations
from pellucid.generation.decoder import SingleSequenceDecoder
from pellucid.generation.sampling import Logits
from pellucid.generation.text_model import TextModel
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.recording import Edit, editing_tap
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.randomness import generator

__all__ = ["write_continuation", "write_translation"]

WRITTEN_TOKENS = 20  # of a language model


def write_translation(model: TranslationModel, source: Sequence[int], edits: Mapping[str, Edit]) -> str:
    """Translate ids greedily with an edited model."""
    ((best, *_),) = beam_search(
        model.model,
        [source],
        model.special_tokens,
        model.settings(beam=1, n_best=1),
        new_decoder=partial(_EditedDecoder, edits),
    )
    return model.target_tokenizer.decode(best.ids)


def write_continuation(model: TextModel, prompt: Sequence[int], edits: Mapping[str, Edit]) -> str:
    """Continue ids by the most probable tokens with an edited model."""
    config = model.settings(tokens=WRITTEN_TOKENS, temperature=0.0, samples=1)
    limit = model.model.config.position_limit
    window = ContextWindow(limit or len(prompt) + WRITTEN_TOKENS, sink_tokens=0)
    continuation = Continuation(prompt, config, model.vocabulary, window, generator(0, "greedy"))
    decoder = SingleSequenceDecoder(_EditedTextDecoder(model.model, edits))
    for _ in run_continuations(decoder, [continuation]):
        pass
    return continuation.text


class _EditedDecoder:
    """A `StepDecoder` for one sentence."""

    coverage = None

    def __init__(
        self,
        edits: Mapping[str, Edit],
        model: EncoderDecoder,
        source: Tensor,
        hypotheses: int,
        alignment_heads: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._model, self._edits, self._tap = model, edits, editing_tap(edits)
        self._memory = model.encode(source, self._tap)

    def logits(self, ids: Tensor) -> Tensor:
        states = self._model.decode(ids[0], self._memory, self._tap)
        return self._model.logits(states[:, _positions(self._edits)], self._tap)[None, :, -1]

    def reorder(self, parents: Tensor) -> None:
        """Do nothing: there is no cache."""

    def select(self, sentences: Tensor) -> None:
        """Do nothing: there is no cache."""


class _EditedTextDecoder:
    """A `Decoder`."""

    def __init__(self, model: DecoderOnly, edits: Mapping[str, Edit]) -> None:
        self._model, self._edits, self._tap = model, edits, editing_tap(edits)
        self._ids: list[int] = []

    def step(self, token_id: int) -> Logits:
        return self.prefill([*self._ids, token_id])

    @torch.inference_mode()
    def prefill(self, ids: Sequence[int]) -> Logits:
        self._ids = list(ids)
        states = self._model.states(torch.tensor([ids], device=self._model.embedding.weight.device), self._tap)
        logits: Logits = self._model.logits(states[:, _positions(self._edits)], self._tap)[0, -1].float().cpu().numpy()
        return logits


def _positions(edits: Mapping[str, Edit]) -> slice:
    """Select the positions whose logits are computed: an edit of the logits may mean any of them."""
    return slice(None) if "logits" in edits else slice(-1, None)

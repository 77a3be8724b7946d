"""The same sentence twice: with the right words put before the model, and with its own."""

from typing import Any, NamedTuple

import torch

from pellucid.generation.beam import beam_search
from pellucid.generation.translate import Translator
from pellucid.inspection.translators import look_at_translator

__all__ = ["Forcing", "WrittenToken", "forced_and_free"]


class WrittenToken(NamedTuple):
    """A token at its place, and how probable the model found it there.

    Attributes:
        display: the token.
        log_prob: natural logarithm of its probability, given the tokens before it in its own row.
        best: the token that was most probable there.
        best_log_prob: of that one.
    """

    display: str
    log_prob: float
    best: str
    best_log_prob: float


class Forcing(NamedTuple):
    """A given translation token by token, and what the model writes by itself.

    Attributes:
        forced: of the given translation: every token after the right ones (teacher forcing).
        free: of the model's own greedy translation: every token after those it wrote itself.
        text: the latter.
    """

    forced: list[WrittenToken]
    free: list[WrittenToken]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "text": self.text,
            "forced": [token._asdict() for token in self.forced],
            "free": [token._asdict() for token in self.free],
        }


def forced_and_free(translator: Translator, text: str, target: str) -> Forcing:
    """Compare teacher forcing with free running on one sentence.

    Args:
        translator: any.
        text: what is translated.
        target: the right translation.
    """
    given = look_at_translator(translator, text, target=target, what=["logits"])
    greedy = translator.settings(beam=1, n_best=1)
    ((best, *_),) = beam_search(translator.model, [given.written.source], translator.symbols, greedy)
    own = translator.target_tokenizer.decode(best.ids)
    following = (*best.ids, translator.symbols.end_id) if best.ended else best.ids
    pieces = translator.target_tokenizer.pieces_of_ids(following)
    # Greedy: what it wrote was the most probable, as far as its constraints let it.
    free = [
        WrittenToken(piece.display, log_prob, piece.display, log_prob)
        for piece, log_prob in zip(pieces, best.token_log_probs, strict=True)
    ]
    log_probs = torch.from_numpy(given.logits.values).log_softmax(-1)
    best_ids = log_probs.argmax(-1).tolist()
    names = given.subject.vocabulary.labels
    forced = [
        WrittenToken(token.display, float(log_probs[i, token.id]), names[best_ids[i]], float(log_probs[i, best_ids[i]]))
        for i, token in enumerate(given.following)
    ]
    return Forcing(forced, free, own)

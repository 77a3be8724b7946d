"""The same sentence twice: with the right words put before the model, and with its own."""

from typing import Any, NamedTuple

import torch

from pellucid.generation.beam import beam_search
from pellucid.inspection.translators import look_at_translator
from pellucid.translator import Translator

__all__ = ["ScoredToken", "TeacherForcing", "compare_teacher_forcing"]


class ScoredToken(NamedTuple):
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


class TeacherForcing(NamedTuple):
    """A given translation token by token, and what the model writes by itself.

    Attributes:
        forced: of the given translation: every token after the right ones (teacher forcing).
        free: of the model's own greedy translation: every token after those it wrote itself.
        text: the latter.
    """

    teacher_forced: list[ScoredToken]
    free_running: list[ScoredToken]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "text": self.text,
            "teacher_forced": [token._asdict() for token in self.teacher_forced],
            "free_running": [token._asdict() for token in self.free_running],
        }


def compare_teacher_forcing(translator: Translator, text: str, target: str) -> TeacherForcing:
    """Compare teacher forcing with free running on one sentence.

    Args:
        translator: any.
        text: what is translated.
        target: the right translation.
    """
    given = look_at_translator(translator, text, target=target, what=["logits"])
    greedy = translator.settings(beam=1, n_best=1)
    ((best, *_),) = beam_search(translator.model, [given.encoded.source], translator.special_tokens, greedy)
    own = translator.target_tokenizer.decode(best.ids)
    next_tokens = (*best.ids, translator.special_tokens.end_id) if best.ended else best.ids
    pieces = translator.target_tokenizer.pieces_from_ids(next_tokens)
    # Greedy: what it wrote was the most probable, as far as its constraints let it.
    free_running = [
        ScoredToken(piece.display, log_prob, piece.display, log_prob)
        for piece, log_prob in zip(pieces, best.token_log_probs, strict=True)
    ]
    log_probs = torch.from_numpy(given.logits.values).log_softmax(-1)
    best_ids = log_probs.argmax(-1).tolist()
    names = given.inspected.vocabulary.labels
    teacher_forced = [
        ScoredToken(token.display, float(log_probs[i, token.id]), names[best_ids[i]], float(log_probs[i, best_ids[i]]))
        for i, token in enumerate(given.next_tokens)
    ]
    return TeacherForcing(teacher_forced, free_running, own)

"""Compare teacher forcing with free running: the model reads the correct words, or its own."""

from typing import Any, NamedTuple

import torch

from pellucid.generation.beam import beam_search
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.encoding import encode_translation, inspect_network
from pellucid.inspection.recording import RecordedRun, record_run

__all__ = ["ScoredToken", "TeacherForcing", "compare_teacher_forcing"]


class ScoredToken(NamedTuple):
    """A token and its probability under the model.

    Attributes:
        log_prob: natural logarithm of its probability after the tokens before it.
        best: the most probable token at its position.
    """

    display: str
    log_prob: float
    best: str
    best_log_prob: float


class TeacherForcing(NamedTuple):
    """A given translation and the model's own, token by token.

    Attributes:
        teacher_forced: the given translation, each token after the correct ones before it.
        free_running: the model's own greedy translation, each token after the model's own.
    """

    teacher_forced: list[ScoredToken]
    free_running: list[ScoredToken]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "text": self.text,
            "teacher_forced": [token._asdict() for token in self.teacher_forced],
            "free_running": [token._asdict() for token in self.free_running],
        }


def compare_teacher_forcing(model: TranslationModel, text: str, target: str) -> TeacherForcing:
    """Compare teacher forcing with free running on one sentence."""
    encoded = encode_translation(model, text, target)
    run = record_run(RecordedRun, inspect_network(model), encoded, ["logits"])
    greedy = model.settings(beam=1, n_best=1)
    ((best, *_),) = beam_search(model.model, [encoded.source], model.special_tokens, greedy)
    written = (*best.ids, model.special_tokens.end_id) if best.ended else best.ids
    # Greedy: each token that it wrote was the most probable one that the constraints allowed.
    free_running = [
        ScoredToken(piece.display, log_prob, piece.display, log_prob)
        for piece, log_prob in zip(model.target_tokenizer.pieces_from_ids(written), best.token_log_probs, strict=True)
    ]
    log_probs = torch.from_numpy(run.arrays["logits"].values).log_softmax(-1)
    best_ids = log_probs.argmax(-1).tolist()
    names = run.inspected.vocabulary.labels
    teacher_forced = [
        ScoredToken(token.display, float(log_probs[i, token.id]), names[best_ids[i]], float(log_probs[i, best_ids[i]]))
        for i, token in enumerate(run.next_tokens)
    ]
    return TeacherForcing(teacher_forced, free_running, model.target_tokenizer.decode(best.ids))

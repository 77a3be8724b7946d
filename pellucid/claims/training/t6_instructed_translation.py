"""T6: a decoder-only model can translate when instructed to."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_language_model import InstructedModel, demo_language_model
from pellucid.claims.demo_translator import TrainedTranslator, demo_translator
from pellucid.claims.evidence import Evidence, Figure, exact_values, paired_difference, share_over_seeds
from pellucid.claims.translation_retrieval import score_retrieval
from pellucid.demo.language import DemoPair
from pellucid.generation.batching import pad_rows
from pellucid.language_model import LanguageModel

__all__ = ["CLAIM", "measure", "measure_preference"]

_OTHERS = 9
_OF_ONE_TASK = 0.625  # of the language model's steps, for a translator that has one task to learn where it has four
Score = Callable[[DemoPair, list[str]], list[float]]


def measure_preference(pairs: tuple[DemoPair, ...], score: Score) -> float:
    """Compute how often the right translation has a lower loss per token than those of the next nine sentences."""
    right = 0
    for n, pair in enumerate(pairs):
        targets = [pairs[(n + k) % len(pairs)].target for k in range(_OTHERS + 1)]
        losses = score(pair, targets)
        right += losses[0] == min(losses)
    return right / len(pairs)


def score_with_language_model(instructed: InstructedModel, instruction: str) -> Score:
    """Score translations as continuations of an instruction with the sentence."""

    def score(pair: DemoPair, targets: list[str]) -> list[float]:
        prompt = instruction.format(pair.source)
        scores = [instructed.model.score(target, given=prompt) for target in targets]
        return [-one.total / len(one.tokens) for one in scores]

    return score


def score_with_translator(trained: TrainedTranslator) -> Score:
    """Score translations with the encoder–decoder."""
    source, target = trained.translator.source_tokenizer, trained.translator.target_tokenizer

    def score(pair: DemoPair, targets: list[str]) -> list[float]:
        ids = pad_rows([[target.start_id, *target.encode(text), target.end_id] for text in targets], target.pad_id)
        text = torch.tensor([[*source.encode(pair.source), source.end_id]]).expand(len(targets), -1)
        with torch.no_grad():
            losses = F.cross_entropy(
                trained.translator.model(text, ids[:, :-1]).transpose(1, 2), ids[:, 1:],
                ignore_index=target.pad_id, reduction="none",
            )  # fmt: skip
        return (losses.sum(1) / (ids[:, 1:] != target.pad_id).sum(1)).tolist()

    return score


def _states(model: LanguageModel, texts: list[str]) -> Tensor:
    """Average the last states of each text, without a template."""
    rows = []
    for text in texts:
        with torch.no_grad():
            rows.append(model.model.states(torch.tensor([model.prompt_ids(text)]))[0].mean(0))
    return torch.stack(rows)


def measure(setup: Setup, instruction: str = "zh→en: {}\n") -> Evidence:
    """Let both kinds of model choose the right translation among ten; retrieve translations in the language model.

    Args:
        instruction: for the language model.
    """
    found: dict[str, list[float]] = {"language model, instructed": [], "encoder–decoder": []}
    inside, sizes, records = [], [], []
    for seed in setup.every_seed():
        instructed = demo_language_model(setup.steps, seed)
        trained = demo_translator(int(setup.steps * _OF_ONE_TASK), seed)
        pairs = instructed.data.test[: setup.size]
        scores = score_with_language_model(instructed, instruction), score_with_translator(trained)
        for values, score in zip(found.values(), scores, strict=True):
            values.append(measure_preference(pairs, score))
        texts = [pair.source for pair in pairs], [pair.target for pair in pairs]
        inside.append(score_retrieval(*(_states(instructed.model, side) for side in texts)))
        models = instructed.model.model, trained.translator.model
        counts = [sum(weight.numel() for weight in model.parameters()) for model in models]
        sizes.append(counts[0] / counts[1])
        records += [{"model": way, "seed": str(seed), "right": values[-1]} for way, values in found.items()]
    one, other = found.values()
    numbers = {
        "right_translation_preferred": share_over_seeds(one),
        "right_translation_preferred_by_encoder_decoder": share_over_seeds(other),
        "behind_encoder_decoder": paired_difference(other, one),
        "translations_retrieved_inside": share_over_seeds(inside),
        "parameters_relative_to_encoder_decoder": exact_values(ratio=sizes[0])["ratio"],
    }
    return Evidence(numbers, records, Figure("bar", "model", "right", "seed"))


CLAIM = claim(
    measure,
    at_least("right_translation_preferred", 0.5, fails_at=0.2),
    at_least("translations_retrieved_inside", 0.05, fails_at=0.02),
    effort=Effort(Setup(seeds=3, steps=40, size=15), Setup(seeds=4, steps=2_400, size=100)),
)

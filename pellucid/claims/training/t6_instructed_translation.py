"""T6: a decoder-only model can translate when told to."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_language_model import InstructedModel, demo_language_model
from pellucid.claims.demo_translator import TrainedTranslator, demo_translator
from pellucid.claims.evidence import Evidence, Figure, difference, exact_values, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.claims.translation_loss import padded
from pellucid.claims.translation_retrieval import score_retrieval
from pellucid.demo.language import DemoPair
from pellucid.language_model import LanguageModel

__all__ = ["CLAIM", "measure", "preferred"]

_OTHERS = 9
_OF_ONE_TASK = 0.625  # of the language model's steps, for a translator that has one task to learn where it has four
Score = Callable[[DemoPair, list[str]], list[float]]


def preferred(pairs: tuple[DemoPair, ...], score: Score) -> float:
    """Return how often the right translation has the lowest loss a token beside those of the next nine sentences."""
    right = 0
    for n, pair in enumerate(pairs):
        targets = [pairs[(n + k) % len(pairs)].target for k in range(_OTHERS + 1)]
        losses = score(pair, targets)
        right += losses[0] == min(losses)
    return right / len(pairs)


def by_language_model(told: InstructedModel, instruction: str) -> Score:
    """Score translations as continuations of an instruction with the sentence."""

    def score(pair: DemoPair, targets: list[str]) -> list[float]:
        prompt = instruction.format(pair.source)
        scores = [told.model.score(target, given=prompt) for target in targets]
        return [-one.total / len(one.tokens) for one in scores]

    return score


def by_translator(trained: TrainedTranslator) -> Score:
    """Score translations as the encoder–decoder does."""
    source, target, model = (
        trained.translator.source_tokenizer,
        trained.translator.target_tokenizer,
        trained.translator.model,
    )

    def score(pair: DemoPair, targets: list[str]) -> list[float]:
        ids = padded([[target.start_id, *target.encode(text), target.end_id] for text in targets], target.pad_id)
        text = torch.tensor([[*source.encode(pair.source), source.end_id]]).expand(len(targets), -1)
        with torch.no_grad():
            losses = F.cross_entropy(
                model(text, ids[:, :-1]).transpose(1, 2), ids[:, 1:], ignore_index=target.pad_id, reduction="none"
            )
        return (losses.sum(1) / (ids[:, 1:] != target.pad_id).sum(1)).tolist()

    return score


def _states(model: LanguageModel, texts: list[str]) -> Tensor:
    """Return the mean of the last states of each text, read as it is."""
    rows = []
    for text in texts:
        with torch.no_grad():
            rows.append(model.model.states(torch.tensor([model.prompt_ids(text)]))[0].mean(0))
    return torch.stack(rows)


def measure(budget: Budget, seed: int, instruction: str = "zh→en: {}\n") -> Evidence:
    """Let both kinds of model pick the right translation among ten; retrieve partners inside the language model.

    Args:
        instruction: what the language model is told.
    """
    found: dict[str, list[float]] = {"language model, told": [], "encoder–decoder": []}
    inside, sizes, records = [], [], []
    for number in budget.every_seed(seed):
        told, trained = (
            demo_language_model(budget.steps, number),
            demo_translator(int(budget.steps * _OF_ONE_TASK), number),
        )
        pairs = told.data.test[: budget.size]
        found["language model, told"].append(preferred(pairs, by_language_model(told, instruction)))
        found["encoder–decoder"].append(preferred(pairs, by_translator(trained)))
        inside.append(
            score_retrieval(
                _states(told.model, [p.source for p in pairs]), _states(told.model, [p.target for p in pairs])
            )
        )
        counts = [
            sum(weight.numel() for weight in model.parameters())
            for model in (told.model.model, trained.translator.model)
        ]
        sizes.append(counts[0] / counts[1])
        records += [{"model": way, "seed": str(number), "right": values[-1]} for way, values in found.items()]
    titles = {
        "model": Text("model", "模型"),
        "right": Text("right one of ten preferred", "十选一选对的比例"),
        "seed": Text("seed", "种子"),
    }
    one, other = found.values()
    numbers = {
        "right_preferred": mean_over_seeds(one),
        "right_preferred_by_encoder_decoder": mean_over_seeds(other),
        "behind_encoder_decoder": difference(other, one),
        "partners_found_inside": mean_over_seeds(inside),
        "parameters_relative_to_encoder_decoder": exact_values(ratio=sizes[0])["ratio"],
    }
    return Evidence(numbers, records, Figure("bar", "model", "right", "seed", titles))


CLAIM = Claim(
    id="T6",
    statement=Text(
        "A decoder-only model can translate when it is told to, with both languages in one space.",
        "只有解码器的模型，得到指令就能翻译，两种语言在同一空间里。",
    ),
    equation="p(y | “zh→en: x”)",
    measured=Text(
        "one vocabulary, an instruction before the sentence (size: sentences): how often the right translation is "
        "preferred to nine others, by a language model that learns four tasks and by an encoder–decoder of about as "
        "many parameters that learns this one, in 5/8 of the steps; partners found among the language model's states",
        "同一词表、句前加指令（size 为句数）：学四种任务的语言模型与只学这一种、参数量相近、步数为其 5/8 的编码器–解码"
        "器，在十个候选中偏好正确译文的比例；以及在语言模型自身状态中找到对应句的比例",
    ),
    rule=Rule(
        (
            at_least("right_preferred", 0.5, Text("chance is a tenth", "偶然为十分之一"), fails_at=0.2),
            at_least("partners_found_inside", 0.05, SEEDS, fails_at=0.02),
        )
    ),
    reading=Text(
        "Nothing tells the model which part is source and which target but the text itself; attention over the prompt "
        "does what cross-attention does. “One space” is the weaker half: partners are found more often than by "
        "chance, and far less often than where one side may be turned (T5). At equal size and data an encoder that "
        "looks both ways keeps a small lead (Raffel et al. 2020; Zhang et al. 2022), which fades with size. Large "
        "models learn to translate from what stands by chance beside each other on the web (Briakou et al. 2023).",
        "除了文本本身，没有什么告诉模型哪部分是源、哪部分是译；对提示的注意就起交叉注意力的作用。“同一空间”是较弱的一"
        "半：找到对应句的次数多于偶然，但远不及允许转动一侧时（T5）。同等规模与数据下，双向看的编码器略占上风（Raffel "
        "等 2020；Zhang 等 2022），规模越大差距越小。大模型靠网上偶然并列的双语文本就学会翻译（Briakou 等 2023）。",
    ),
    sources=(
        "Radford et al. 2019, GPT-2",
        "Zhang et al. 2022, Examining Scaling and Transfer of Language Model Architectures for Machine Translation",
        "Briakou et al. 2023, Searching for Needles in a Haystack",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=40, size=15), Budget(seeds=4, steps=2_400, size=100)),
)

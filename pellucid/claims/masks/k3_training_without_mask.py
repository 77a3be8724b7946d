"""K3: without the mask training is cheating."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import demo_sentences
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import PAD, no_mask, small_decoder, torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_training import fit
from pellucid.layers.masks import causal
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]


def _texts(count: int, seed: int) -> tuple[Tensor, int]:
    """Return sentences of the demo language as ids of words, ended by a word of its own, padded with 0."""
    sentences = [[*words, "。"] for words in demo_sentences("zh", count, seed)]
    ids = {word: n + 1 for n, word in enumerate(sorted({word for words in sentences for word in words}))}
    longest = max(map(len, sentences))
    rows = [[ids[word] for word in words] + [PAD] * (longest - len(words)) for words in sentences]
    return torch.tensor(rows), len(ids) + 1


def _loss(model: DecoderOnly, ids: Tensor, masked: bool) -> Tensor:
    length = ids.shape[1] - 1
    mask = causal(length) if masked else no_mask(length)
    return F.cross_entropy(model(ids[:, :-1], may_attend=mask).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


def _loss_of_step(model: DecoderOnly, train: Tensor, draw: torch.Generator, masked: bool, step: int) -> Tensor:
    return _loss(model, train[torch.randint(len(train), (64,), generator=draw)], masked)


def _writing_loss(model: DecoderOnly, ids: Tensor, masked: bool) -> float:
    """Return the loss of the next word given only what stands before it: as in writing, nothing follows yet."""
    total, words = 0.0, 0
    with torch.no_grad():
        for step in range(1, ids.shape[1]):
            rows = ids[ids[:, step] != PAD]
            if len(rows):
                mask = causal(step) if masked else no_mask(step)
                logits = model(rows[:, :step], may_attend=mask)[:, -1]
                total += float(F.cross_entropy(logits, rows[:, step], reduction="sum"))
                words += len(rows)
    return total / words


def measure(budget: Budget, seed: int, unmasked: bool = True) -> Evidence:
    """Train with the mask and without; compare the loss in training with that in writing.

    Args:
        unmasked: whether the model said to be trained without the mask is.
    """
    found: dict[str, list[float]] = {}
    records = []
    for number in budget.every_seed(seed):
        texts, vocab_size = _texts(budget.size, number)
        train, test = texts[:-100], texts[-100:]
        for name, masked in (("with the mask", True), ("without the mask", not unmasked)):
            model = small_decoder(number, vocab_size=vocab_size, scale_embeddings=True)
            draw = torch_generator(number, "K3")
            curve = fit(model, partial(_loss_of_step, model, train, draw, masked), budget.steps)
            with torch.no_grad():
                given = float(_loss(model, test, masked))
            written = _writing_loss(model, test, masked)
            found.setdefault(f"{name}, training", []).append(given)
            found.setdefault(f"{name}, writing", []).append(written)
            if number == seed:
                records += [{"step": n, "loss": loss, "model": name} for n, loss in enumerate(curve) if n % 5 == 0]
    titles = {
        "step": Text("updates", "更新次数"),
        "loss": Text("training loss, nats a word", "训练损失（奈特/词）"),
        "model": Text("model", "模型"),
    }
    numbers = {
        "training_loss_without_mask": mean_over_seeds(found["without the mask, training"]),
        "training_loss_with_mask": mean_over_seeds(found["with the mask, training"]),
        "writing_loss_without_mask_over_with": difference(
            found["without the mask, writing"], found["with the mask, writing"]
        ),
    }
    return Evidence(numbers, records, Figure("line", "step", "loss", "model", titles))


CLAIM = Claim(
    id="K3",
    statement=Text("Without the mask, training is cheating.", "没有掩码，训练就是作弊。"),
    equation="p(x_t | x_1 … x_T) instead of p(x_t | x_<t)",
    measured=Text(
        "two-layer language models on sentences of the demo language (size: sentences), trained with the mask and "
        "without: loss on "
        "unseen sentences as in training, and in writing, when nothing stands behind yet",
        "在演示语言句子上（size 为句数）训练的两层语言模型，有掩码与无掩码：未见句子上按训练方式的损失，以及写作时（后"
        "面什么都还没有）的损失",
    ),
    rule=Rule(
        (
            at_most(
                "training_loss_without_mask",
                0.3,
                Text(
                    "the answer stands one place further on: copying it costs nearly nothing",
                    "答案就在下一格：抄它几乎没有损失",
                ),
                fails_at=1.0,
            ),
            at_least("writing_loss_without_mask_over_with", 0.5, SEEDS, fails_at=0.1),
        )
    ),
    reading=Text(
        "The next word stands in the input, one place further on, and a head that looks there has nothing left to "
        "learn. Masked language "
        "models look both ways too, honestly: they hide what they predict (Devlin et al. 2019). A loss that falls too "
        "well is the usual "
        "sign of a leak, from a mask, a shifted label or a test sentence in training.",
        "下一个词就在输入里的下一格，看那里的头再没有什么可学。掩码语言模型也双向看，却是诚实的：它们把要预测的藏起来"
        "（Devlin 等 2019）。"
        "损失降得太好，通常是泄漏的征兆：掩码、错位的标签，或混进训练的测试句。",
    ),
    sources=("Vaswani et al. 2017, §3.2.3", "Devlin et al. 2019, BERT"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=100, size=1_500), Budget(seeds=5, steps=600, size=5_000)),
)

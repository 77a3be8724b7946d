"""T1: teacher forcing trains all positions at once."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import random_ids, small_translator
from pellucid.claims.texts import ROUNDING_32
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure"]

_LENGTH = 9


def _losses(model: EncoderDecoder, source: Tensor, target: Tensor) -> tuple[list[float], list[float]]:
    """Return the loss of each position, computed at once and one by one with what was written before it only."""
    with torch.no_grad():
        at_once = F.cross_entropy(model(source, target[:, :-1])[0], target[0, 1:], reduction="none").tolist()
        one_by_one = []
        for step in range(1, _LENGTH):
            logits = model(source, target[:, :step])[0, -1]
            one_by_one.append(float(F.cross_entropy(logits, target[0, step])))
    return at_once, one_by_one


def measure(seed: int, model: EncoderDecoder | None = None) -> Evidence:
    """Compare the loss of all positions at once with that of each after its own prefix; and the gradients."""
    model = model or small_translator(seed)
    source, target = random_ids(seed, 1, 7), random_ids(seed, 1, _LENGTH)
    at_once, one_by_one = _losses(model, source, target)
    records = [
        {"position": n + 1, "loss": loss, "computed": name}
        for name, losses in (("at once", at_once), ("one by one", one_by_one))
        for n, loss in enumerate(losses)
    ]
    weight = model.target_embedding.weight
    (together,) = torch.autograd.grad(
        F.cross_entropy(model(source, target[:, :-1])[0], target[0, 1:], reduction="sum"), weight
    )
    apart = sum(
        torch.autograd.grad(F.cross_entropy(model(source, target[:, :step])[0, -1], target[0, step]), weight)[0]
        for step in range(1, _LENGTH)
    )
    titles = {
        "position": Text("position", "位置"),
        "loss": Text("loss, nats", "损失（奈特）"),
        "computed": Text("computed", "计算方式"),
    }
    numbers = exact_values(
        difference_of_sums=abs(sum(at_once) - sum(one_by_one)) / sum(one_by_one),
        largest_difference_of_a_position=max(abs(a - b) for a, b in zip(at_once, one_by_one, strict=True)),
        difference_of_gradients=float((together - apart).norm() / together.norm()),
    )
    return Evidence(numbers, records, Figure("line", "position", "loss", "computed", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="T1",
    statement=Text("Teacher forcing trains all positions at once.", "教师强制同时训练所有位置。"),
    equation="−ln P(y | x) = Σ_t −ln P(y_t | y_<t, x)",
    measured=Text(
        "one sentence pair: the loss of all eight positions in one pass against eight passes, each over a longer "
        "prefix; and the gradients",
        "一个句对：一次前向得到的八个位置损失，对照八次前向（每次前缀更长一词）；以及两者的梯度",
    ),
    rule=Rule(
        (
            at_most("difference_of_sums", 1e-4, ROUNDING_32, fails_at=1e-3),
            at_most("largest_difference_of_a_position", 1e-4, ROUNDING_32, fails_at=1e-3),
            at_most("difference_of_gradients", 1e-4, ROUNDING_32, fails_at=1e-3),
        )
    ),
    reading=Text(
        "The mask is what allows it: no position sees its own answer, so one pass holds as many training examples "
        "as there "
        "are words. A recurrent network could be trained with the true history too (Williams & Zipser 1989), but "
        "only step "
        "after step. What the model never sees in training is its own mistakes: exposure bias (Bengio et al. 2015; "
        "Ranzato et al. 2016).",
        "使之可行的是掩码：没有位置看得到自己的答案，所以一次前向就有与词数相同的训练样本。循环网络也能用真实历史训"
        "练（Williams 与 Zipser 1989），"
        "却只能一步接一步。模型在训练中从不曾见到自己的错误，即曝光偏差（Bengio 等 2015；Ranzato 等 2016）。",
    ),
    sources=(
        "Williams & Zipser 1989, A Learning Algorithm for Continually Running Fully Recurrent Neural Networks",
        "Bengio et al. 2015, Scheduled Sampling",
    ),
    run=_run,
)

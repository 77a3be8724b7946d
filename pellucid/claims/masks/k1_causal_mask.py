"""K1: no looking ahead."""

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, random_ids, small_decoder
from pellucid.claims.texts import CLEAR, EXACTLY_NONE
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_LENGTH = 8


def _influence(model: DecoderOnly, ids: Tensor, may_attend: Tensor | None) -> Tensor:
    """Return the norm of ∂ output at t / ∂ embedding at s, of a random sum of the outputs, [t s]."""
    entered: list[Tensor] = []

    def watch(name: str, x: Tensor) -> Tensor:
        if name == "embedding.token":
            x = x.detach().requires_grad_()
            entered.append(x)
        return x

    logits = model(ids, watch, may_attend=may_attend)[0]
    direction = torch.linspace(-1, 1, logits.shape[-1])
    rows = []
    for t in range(_LENGTH):
        (gradient,) = torch.autograd.grad(logits[t] @ direction, entered[0], retain_graph=True)
        rows.append(gradient[0].norm(dim=-1))
    return torch.stack(rows)


def measure(seed: int, may_attend: Tensor | None = None) -> Evidence:
    """Differentiate each output by each input, under the model's mask and without one.

    Args:
        may_attend: instead of the model's mask, [1 1 8 8].
    """
    model, ids = small_decoder(seed), random_ids(seed, 1, _LENGTH)
    masked, free = _influence(model, ids, may_attend), _influence(model, ids, no_mask(_LENGTH))
    ahead = torch.ones(_LENGTH, _LENGTH, dtype=torch.bool).triu(1)
    records = [
        {"output": t + 1, "input": s + 1, "derivative": float(masked[t, s])}
        for t in range(_LENGTH)
        for s in range(_LENGTH)
    ]
    titles = {
        "output": Text("output at", "输出位置"),
        "input": Text("input at", "输入位置"),
        "derivative": Text("norm of the derivative", "导数的范数"),
    }
    numbers = exact_values(
        largest_derivative_ahead=float(masked[ahead].max()),
        least_derivative_back=float(masked[~ahead].min()),
        least_derivative_ahead_without_mask=float(free[ahead].min()),
    )
    return Evidence(numbers, records, Figure("heat", "input", "output", "derivative", titles))


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="K1",
    statement=Text("With the causal mask there is no looking ahead.", "有了因果掩码，就看不到后面的词。"),
    equation="∂out_t / ∂x_s = 0  for s > t",
    measured=Text(
        "a two-layer model on eight tokens: the derivative of every output by every input, with the mask and without",
        "两层模型、八个词元：每个输出对每个输入的导数，有掩码与无掩码",
    ),
    rule=Rule(
        (
            at_most("largest_derivative_ahead", 0.0, EXACTLY_NONE),
            at_least(
                "least_derivative_back",
                1e-6,
                Text(
                    "what comes before must have an effect, or the test would see nothing",
                    "前面的词必须有影响，否则检验什么也看不到",
                ),
            ),
            at_least("least_derivative_ahead_without_mask", 1e-6, CLEAR),
        )
    ),
    reading=Text(
        "The zeros are exact, for a weight of 0 multiplies everything that would come from ahead, in every layer. "
        "So a "
        "decoder's states of a prefix never change when the text goes on, and that is what a cache of keys and values "
        "relies on (T4). A single forgotten mask, in one layer, breaks it.",
        "这些零是精确的，因为每一层中来自后面的一切都被乘以 0。所以文本继续时，前缀的状态永不改变，键值缓存正依赖于"
        "此（T4）。"
        "只要有一层漏了掩码，它就不再成立。",
    ),
    sources=("Vaswani et al. 2017, §3.2.3",),
    run=_run,
)

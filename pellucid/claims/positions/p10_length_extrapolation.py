"""P10: texts longer than seen in training."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, exact_values, mean_over_seeds
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_training import fit
from pellucid.errors import UserError
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure", "repeating"]

_SEEN, _LONG, _PERIOD, _LETTERS = 24, 96, 4, 12
_SCHEMES = ("sinusoidal", "rope", "alibi", "none")


def repeating(random: torch.Generator, batch: int, length: int) -> Tensor:
    """Return texts of four letters drawn at random, said over and over: after the first round each is certain."""
    motif = torch.randint(1, _LETTERS, (batch, _PERIOD), generator=random)
    return motif.repeat(1, length // _PERIOD + 1)[:, :length]


def _by_position(model: DecoderOnly, ids: Tensor) -> Tensor:
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").mean(0)


def measure(budget: Budget, seed: int) -> Evidence:
    """Train on short texts and look at the loss of each place in texts four times as long."""
    records: list[dict[str, object]] = []
    added: dict[str, list[float]] = {scheme: [] for scheme in _SCHEMES}
    refused = 0
    for number in budget.every_seed(seed):
        for scheme in _SCHEMES:
            model, draw = small_decoder(number, vocab_size=_LETTERS, positions=scheme), torch_generator(number, "P10")

            def loss(step: int, model: DecoderOnly = model, draw: torch.Generator = draw) -> Tensor:
                return _by_position(model, repeating(draw, 32, _SEEN))[_PERIOD:].mean()

            fit(model, loss, budget.steps)
            with torch.no_grad():
                losses = _by_position(model, repeating(torch_generator(number, "P10", "test"), 200, _LONG))
            within, beyond = float(losses[_SEEN // 2 : _SEEN - 1].mean()), float(losses[2 * _SEEN :].mean())
            added[scheme].append(beyond - within)
            records += [
                {"position": place, "positions": scheme, "loss": float(losses[place]), "seed": number}
                for place in range(_PERIOD, _LONG - 1, 3)
            ]
        learned = small_decoder(number, vocab_size=_LETTERS, positions="learned", max_positions=_SEEN)
        try:
            learned(torch.ones(1, _LONG, dtype=torch.long))
        except UserError:
            refused += 1
    titles = {
        "position": Text("position (trained up to 24)", "位置（训练只到 24）"),
        "loss": Text("loss, nats", "损失（奈特）"),
        "positions": Text("positions", "位置方案"),
    }
    numbers = {
        **{f"loss_added_{scheme}": mean_over_seeds(values) for scheme, values in added.items()},
        **exact_values(learned_codes_that_refuse=refused),
    }
    shown = [record for record in records if record["seed"] == seed]
    return Evidence(numbers, shown, Figure("line", "position", "loss", "positions", titles))


_WORSE = Text(
    "nats a token that the loss rises from places seen in training to places two to four times as far: 0.2 is hardly "
    "felt, "
    "one half is",
    "从训练见过的位置到两至四倍远处，损失每词元上升多少奈特：0.2 几乎无感，0.5 则明显",
)

CLAIM = Claim(
    id="P10",
    statement=Text("A model can read texts longer than it saw in training.", "模型能读比训练时更长的文本。"),
    equation="loss(pos) for pos > length trained",
    measured=Text(
        "texts of four letters repeated, trained at length 24, read at length 96: loss by position with ALiBi, "
        "sinusoids, rotary "
        "positions and none; learned codes do not exist past their last, and the model says so",
        "四个字母反复的文本，训练长度 24、测试长度 96：ALiBi、正弦、旋转与无编码时逐位置的损失；学习式编码在最后一个之"
        "后不存在，模型会明说",
    ),
    rule=Rule(
        holds=(at_most("loss_added_alibi", 0.2, _WORSE, fails_at=0.5),),
        beyond=(
            at_most("loss_added_sinusoidal", 0.2, SEEDS, fails_at=0.5),
            at_most("loss_added_rope", 0.2, SEEDS, fails_at=0.5),
        ),
        condition=Text(
            "positions are a penalty on distance, as ALiBi has them; with added sinusoids or rotary positions the "
            "loss rises "
            "past the length trained, and learned codes do not exist there",
            "位置以距离惩罚的形式出现，如 ALiBi；相加正弦或旋转编码在超出训练长度后损失上升，学习式编码则根本不存在",
        ),
    ),
    reading=Text(
        "That a formula goes on does not help where a network has never seen its values. ALiBi (Press et al. 2022) "
        "mostly does not "
        "look that far at all: it is no worse, and no better for the longer text. Rotary positions are stretched for "
        "longer texts "
        "(Chen et al. 2023), and models without any codes sometimes generalise best (Kazemnejad et al. 2023).",
        "公式能延伸，并不意味着没见过那些数值的网络会用。ALiBi（Press 等 2022）多半根本不看那么远：不会更差，也不因文"
        "本更长而更好。"
        "旋转编码可以拉伸后用于更长文本（Chen 等 2023），没有任何编码的模型有时反而泛化最好（Kazemnejad 等 2023）。",
    ),
    sources=(
        "Press et al. 2022, Train Short, Test Long",
        "Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=60), Budget(seeds=5, steps=300)),
)

"""A7: gradients alone drive queries and keys to match and values to carry."""

import torch

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, difference, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.small_models import no_mask, small_decoder, torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_tasks import ToyBatch, accuracy, loss_on, train_on_task
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "marked", "measure"]

_PARTS = ("query", "key", "value")


def marked(random: torch.Generator, batch: int) -> ToyBatch:
    """Return four tokens, each a key with a value (1 + 4 · key + value), and a key asked for; name its value."""
    keys = torch.rand(batch, 6, generator=random).argsort(1)[:, :4]
    values = torch.randint(4, (batch, 4), generator=random)
    asked = torch.randint(4, (batch, 1), generator=random)
    ids = torch.cat((1 + 4 * keys + values, 25 + keys.gather(1, asked)), 1)
    answers = torch.full_like(ids, -1)
    answers[:, -1:] = 1 + values.gather(1, asked)
    return ToyBatch(ids, answers)


def _weight_on_right(model: DecoderOnly, seed: int) -> float:
    """Return the mean weight that the last place gives to the token whose value is asked for, of the best head."""
    ids, _ = marked(torch_generator(seed, "test texts"), 500)
    activations = Activations()
    with torch.no_grad():
        model(ids, activations, may_attend=no_mask(5))
    keys, asked = (ids[:, :4] - 1) // 4, ids[:, 4:] - 25
    weights = activations["decoder.0.self_attention.weights"][:, :, 4, :4]
    return float((weights * (keys == asked)[:, None]).sum(-1).mean(0).max())


def _first_gradients(seed: int) -> dict[str, float]:
    model = small_decoder(seed, vocab_size=40, n_layers=1, positions="none", scale_embeddings=True, activation="relu")
    loss_on(model, marked(torch_generator(seed, "first"), 256)).backward()
    attention = next(model.blocks()).self_attention
    return {name: float(getattr(attention, name).weight.grad.norm()) for name in _PARTS}


def measure(budget: Budget, seed: int) -> Evidence:
    """Train one layer on associative recall and look at the weight on the right key before and after."""
    before, after, right, records = [], [], [], []
    gradients: dict[str, list[float]] = {name: [] for name in _PARTS}
    for number in budget.every_seed(seed):
        fresh, _ = train_on_task(marked, number, 0, positions="none")
        model, _ = train_on_task(marked, number, budget.steps, positions="none", batch=128)
        before.append(_weight_on_right(fresh, number))
        after.append(_weight_on_right(model, number))
        right.append(accuracy(model, marked, number))
        for name, norm in _first_gradients(number).items():
            gradients[name].append(norm)
        records += [
            {"when": "before", "seed": str(number), "weight": before[-1]},
            {"when": "after", "seed": str(number), "weight": after[-1]},
        ]
    titles = {
        "when": Text("training", "训练"),
        "weight": Text("weight on the right key", "落在正确键上的权重"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "gain_of_weight_on_the_right_key": difference(after, before),
        "accuracy": mean_over_seeds(right),
        **{f"first_gradient_of_{name}": mean_over_seeds(norms) for name, norms in gradients.items()},
    }
    return Evidence(numbers, records, Figure("bar", "when", "weight", "seed", titles))


CLAIM = Claim(
    id="A7",
    statement=Text(
        "Gradients alone drive queries and keys to match, and values to carry what is needed.",
        "仅凭梯度，查询与键就会学会匹配，值就会学会携带所需信息。",
    ),
    equation="∂loss/∂W_Q, ∂loss/∂W_K, ∂loss/∂W_V",
    measured=Text(
        "associative recall (four tokens with a key and a value each, a key is asked for): the weight on the right "
        "token "
        "before and after training, accuracy, and the first gradients of the three matrices",
        "联想回忆（四个词元各带键与值，询问一个键）：训练前后正确词元所得的权重、准确率，以及三个矩阵的初始梯度",
    ),
    rule=Rule(
        (
            at_least("gain_of_weight_on_the_right_key", 0.2, SEEDS, fails_at=0.05),
            at_least("accuracy", 0.6, Text("guessing gives a quarter", "瞎猜只对四分之一"), fails_at=0.35),
        )
    ),
    reading=Text(
        "Nobody says which token is right; only the answer is marked. At the start the weights are even, so values "
        "learn "
        "first and give queries and keys a reason to choose: their gradient is smaller until there is something to "
        "gain by "
        "looking. Such stages are known as sudden drops of the loss in in-context recall (Olsson et al. 2022).",
        "没有人说哪个词元是对的，标注的只有答案。起初权重均匀，所以值先学会，查询与键才有了选择的理由：在“看”变得有利"
        "可图之前，它们的梯度较小。"
        "这种阶段性在上下文回忆中表现为损失的骤降（Olsson 等 2022）。",
    ),
    sources=(
        "Olsson et al. 2022, In-context Learning and Induction Heads",
        "Snell et al. 2021, Approximating How Single Head Attention Learns",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=250), Budget(seeds=5, steps=1_000)),
)

"""E8: starting from pretrained vectors speeds convergence."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_text import demo_vectors, word_texts
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_most
from pellucid.claims.small_models import PAD, small_decoder, torch_generator
from pellucid.claims.toy_training import fit
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure"]

_WAYS = ("random", "pretrained, frozen", "pretrained, trained on")
_EVERY = 10


def _loss(model: DecoderOnly, ids: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)


def measure(budget: Budget, seed: int) -> Evidence:
    """Train a small language model on few sentences, with three kinds of first embedding; count steps to one loss."""
    records: list[dict[str, object]] = []
    needed: dict[str, list[float]] = {way: [] for way in _WAYS}
    for number in budget.every_seed(seed):
        vectors = demo_vectors("zh", budget.size, number)
        texts = word_texts(vectors, number, 600)
        train, valid = texts[:400], texts[400:]
        curves = {}
        for way in _WAYS:
            model = small_decoder(number, vocab_size=len(vectors) + 1, n_layers=1, tie_embeddings=False)
            rows = torch.from_numpy(vectors.input_vectors.copy())
            if way != "random":
                # Of the norm that random rows have, so that only directions differ.
                rows = F.normalize(rows, dim=1) * model.embedding.weight.norm(dim=1).mean()
                with torch.no_grad():
                    model.embedding.weight[1:] = rows
            model.embedding.weight.requires_grad_("frozen" not in way)
            curve, draw = [], torch_generator(number, "E8", "batches")
            for step in range(0, budget.steps, _EVERY):
                with torch.no_grad():
                    curve.append(float(_loss(model.eval(), valid)))
                records.append({"step": step, "start": way, "loss": curve[-1], "seed": number})
                fit(model, lambda n: _loss(model, train[torch.randint(len(train), (32,), generator=draw)]), _EVERY)  # noqa: B023
            curves[way] = curve
        goal = min(curves["random"])
        for way, curve in curves.items():
            # Never reached counts as one more than the whole training.
            needed[way].append(next((n for n, loss in enumerate(curve) if loss <= goal), len(curve)) * _EVERY)
    shown = [record for record in records if record["seed"] == seed]
    titles = {
        "step": Text("updates", "更新次数"),
        "loss": Text("validation loss, nats a word", "验证损失（奈特/词）"),
        "start": Text("first embedding", "初始嵌入"),
    }

    def ratio(way: str) -> list[float]:
        return [a / max(b, 1) for a, b in zip(needed[way], needed["random"], strict=True)]

    numbers = {
        "steps_needed_trained_on": mean_over_seeds(ratio("pretrained, trained on")),
        "steps_needed_frozen": mean_over_seeds(ratio("pretrained, frozen")),
    }
    return Evidence(numbers, shown, Figure("line", "step", "loss", "start", titles))


CLAIM = Claim(
    id="E8",
    statement=Text("Starting from pretrained vectors speeds convergence.", "用预训练词向量起步能加快收敛。"),
    equation="steps(pretrained) / steps(random) < 1",
    measured=Text(
        "a one-layer language model on 400 sentences, vectors pretrained on more of them (size: sentences): steps to "
        "the "
        "best validation loss that random first rows reach, relative to theirs",
        "单层语言模型、400 句，词向量在更多句子上预训练（size 为句数）：达到随机起步最佳验证损失所需步数与其之比",
    ),
    rule=Rule(
        (
            at_most(
                "steps_needed_trained_on",
                0.9,
                Text("a tenth fewer steps at least, over all of the interval", "整个区间都至少少走十分之一的步数"),
                fails_at=1.0,
            ),
        )
    ),
    reading=Text(
        "Word vectors bring what the small text cannot show, and most for rare words. The more text there is for the "
        "task "
        "itself, the less is left of the gain (Qi et al. 2018), and frozen rows keep the task from making distinctions "
        "that the vectors do not have, antonyms among them. Most of what is called pretraining today goes beyond the "
        "first "
        "matrix (Peters et al. 2018).",
        "词向量带来小语料无法呈现的东西，对罕见词最有用。任务本身的文本越多，增益越少（Qi 等 2018）；冻结的行则使任务"
        "无法作出词向量没有的区分，例如反义词。"
        "如今所说的预训练大多远不止第一个矩阵（Peters 等 2018）。",
    ),
    sources=("Collobert et al. 2011", "Qi et al. 2018, When and Why are Pre-trained Word Embeddings Useful for NMT?"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=90, size=3_000), Budget(seeds=5, steps=400, size=10_000)),
)

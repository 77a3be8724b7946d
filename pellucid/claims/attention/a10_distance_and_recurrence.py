"""A10: distance does not matter to attention, it does to a recurrent network."""

from functools import partial

import torch
from torch import Tensor, nn

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Estimate, Evidence, Figure, difference, exact_values, mean_over_seeds
from pellucid.claims.lstm import LstmLanguageModel
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_tasks import ToyBatch, accuracy, loss_on, train_on_task
from pellucid.claims.toy_training import fit

__all__ = ["CLAIM", "marked_text", "measure"]

_SHORT, _LONG = 16, 96


def marked_text(random: torch.Generator, batch: int, length: int = _SHORT, distance: int | None = None) -> ToyBatch:
    """Return tokens of which one is marked; at the end its letter is to be named.

    Args:
        length: how many letters.
        distance: how far before the end it stands; anywhere if not given.
    """
    letters = torch.randint(8, (batch, length), generator=random)
    place = (
        torch.randint(length, (batch, 1), generator=random)
        if distance is None
        else torch.full((batch, 1), length - distance)
    )
    marked = torch.zeros_like(letters).scatter_(1, place, 8)
    ids = torch.cat((1 + letters + marked, torch.full((batch, 1), 17)), 1)
    answers = torch.full_like(ids, -1)
    answers[:, -1:] = 1 + letters.gather(1, place)
    return ToyBatch(ids, answers)


def _lstm(seed: int, steps: int, length: int) -> LstmLanguageModel:
    """Return an LSTM of width 32 trained as `train_on_task` trains."""
    lstm = LstmLanguageModel(18, 32)
    with torch.no_grad():
        random = torch_generator(seed, "A10")
        for weight in lstm.parameters():
            weight.uniform_(-(32**-0.5), 32**-0.5, generator=random)
    texts = torch_generator(seed, "texts of a task")

    def loss(step: int) -> Tensor:
        return loss_on(lstm, marked_text(texts, 64, length))

    fit(lstm, loss, steps)
    return lstm


def measure(budget: Budget, seed: int) -> Evidence:
    """Train one layer of attention and an LSTM of as many parameters; ask for letters near and far, in two lengths."""
    near = 1
    found: dict[tuple[str, int, int], list[float]] = {}
    sizes = {}
    for number in budget.every_seed(seed):
        for length in (_SHORT, _LONG):
            task = partial(marked_text, length=length)
            attention, _ = train_on_task(task, number, budget.steps, positions="none", vocab_size=18, n_heads=1)
            models: dict[str, nn.Module] = {"attention": attention, "LSTM": _lstm(number, budget.steps, length)}
            for name, model in models.items():
                sizes[name] = sum(weight.numel() for weight in model.parameters())
                for distance in (near, length // 4, length // 2, length):
                    right = accuracy(model, partial(task, distance=distance), number, texts=500)
                    found.setdefault((name, length, distance), []).append(right)
    records = []
    for (name, length, distance), values in found.items():
        mean = mean_over_seeds(values)
        records.append({"letters": str(length), "distance": distance, "model": name, **mean.columns("accuracy")})

    def lost(name: str, length: int) -> Estimate:
        return difference(found[name, length, near], found[name, length, length])

    titles = {
        "distance": Text("distance, tokens", "距离（词元）"),
        "accuracy": Text("accuracy", "准确率"),
        "model": Text("model", "模型"),
        "letters": Text("letters in a text", "文本的字母数"),
    }
    numbers = {
        "lost_by_distance_attention": lost("attention", _LONG),
        "accuracy_far_attention": mean_over_seeds(found["attention", _LONG, _LONG]),
        "lost_by_distance_lstm_96": lost("LSTM", _LONG),
        "lost_by_distance_lstm_16": lost("LSTM", _SHORT),
        "parameters_of_lstm_over_attention": exact_values(ratio=sizes["LSTM"] / sizes["attention"])["ratio"],
    }
    return Evidence(numbers, records, Figure("line", "distance", "accuracy", "model", titles, column="letters"))


CLAIM = Claim(
    id="A10",
    statement=Text(
        "Distance does not matter to attention; it does to a recurrent network.",
        "距离对注意力无关紧要，对循环网络则不然。",
    ),
    equation="path length: attention 1, recurrence n",
    measured=Text(
        "16 or 96 letters, one of them marked, which is to be named at the end: accuracy by distance, one layer of "
        "attention and an LSTM of about as many parameters, after equally many steps",
        "16 或 96 个字母中有一个带标记，要在结尾说出它：单层注意力与参数量相近的 LSTM 训练同样步数后，按距离的准确率",
    ),
    rule=Rule(
        holds=(
            at_most("lost_by_distance_attention", 0.05, SEEDS, fails_at=0.15),
            at_least(
                "accuracy_far_attention",
                0.8,
                Text("it must have learnt the task at all", "首先必须学会这个任务"),
                fails_at=0.5,
            ),
            at_least("lost_by_distance_lstm_96", 0.1, SEEDS, fails_at=0.02),
        ),
        beyond=(at_least("lost_by_distance_lstm_16", 0.1, SEEDS, fails_at=0.02),),
        condition=Text(
            "the text is long for the training given: over 96 letters; over 16 an LSTM comes to remember as well",
            "就所给训练而言文本够长：96 个字母；16 个字母时 LSTM 同样能记住",
        ),
    ),
    reading=Text(
        "What an LSTM learns late it can learn in the end: gates can hold a letter, and with enough training the "
        "difference goes. The path length decides how soon and how surely a far dependency is found "
        "(Hochreiter et al. 2001; Vaswani et al. 2017, table 1). Attention, on its side, knows no distance unless it "
        "is told one, so its line is flat; but a flat line of guesses proves nothing, and in a long text not every "
        "start has found the mark after so few steps. That is what the second number asks. For seeing everything it "
        "pays n².",
        "LSTM 学得晚的东西终究学得会：门可以把字母保持住，训练足够时差别会消失。路径长度决定的是多快、多"
        "稳地找到远距离依赖"
        "（Hochreiter 等 2001；Vaswani 等 2017，表 1）。而注意力除非被告知，否则不知距离为何物，所以它的线是平的；但"
        "一条全靠猜的平线什么也证明不了，而文本一长，这么少的步数并非从每个起点都找得到标记，第二个数问的就是这个。"
        "处处可见的代价是 n²。",
    ),
    sources=("Vaswani et al. 2017, §4", "Hochreiter et al. 2001, Gradient Flow in Recurrent Nets"),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=60), Budget(seeds=5, steps=400)),
)

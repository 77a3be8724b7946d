"""T8: next-word prediction settles an ambiguous word."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.claims.texts import SEEDS
from pellucid.claims.toy_training import fit
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "measure", "sentences"]

_WORDS = (
    "<pad>", "the", "bank", "of", "is", "river", "lake", "stream", "canal", "city", "town", "state", "club",
    "muddy", "green", "steep", "wet", "rich", "closed", "strict", "safe",
)  # fmt: skip
_ID = {word: n for n, word in enumerate(_WORDS)}
_OWNERS = {"shore": (5, 9), "money": (9, 13)}  # ids from, to below
_QUALITIES = {"shore": (13, 17), "money": (17, 21)}
_TEXT = ("the", "bank", "of", "the", "?", "is")
_PLACES = {"bank": 1, "the word that settles it": 4, "is": 5}


def sentences(random: torch.Generator, count: int, sense: str | None = None, related: bool = True) -> Tensor:
    """Return sentences “the bank of the X is Y”.

    Args:
        sense: shore or money; any of the two if not given.
        related: whether Y goes with X.
    """
    rows = torch.tensor([[*(_ID.get(word, 0) for word in _TEXT), 0]]).repeat(count, 1)
    money = torch.rand(count, generator=random) < 0.5 if sense is None else torch.full((count,), sense == "money")
    other = money if related else torch.rand(count, generator=random) < 0.5
    rows[:, 4] = torch.randint(4, (count,), generator=random) + torch.where(
        money, _OWNERS["money"][0], _OWNERS["shore"][0]
    )
    rows[:, 6] = torch.randint(4, (count,), generator=random) + torch.where(
        other, _QUALITIES["money"][0], _QUALITIES["shore"][0]
    )
    return rows


def _odds(logits: Tensor) -> Tensor:
    """Return ln p(a quality of money) − ln p(a quality of the shore) of the word that comes next."""
    return logits[:, slice(*_QUALITIES["money"])].logsumexp(1) - logits[:, slice(*_QUALITIES["shore"])].logsumexp(1)


def _carried(model: DecoderOnly, seed: int) -> dict[str, float]:
    """Return what share of the odds' difference goes with each place's embedding from one sense to the other."""
    random = torch_generator(seed, "T8", "test")
    shore, money = (sentences(random, 50, sense)[:, :6] for sense in ("shore", "money"))
    activations = Activations()
    with torch.no_grad():
        of_shore = _odds(model(shore)[:, -1])
        of_money = _odds(model(money, activations)[:, -1])
        shares = {}
        for word, place in _PLACES.items():

            def patch(name: str, x: Tensor, place: int = place) -> Tensor:
                if name != "embedding.token":
                    return x
                changed = x.clone()
                changed[:, place] = activations[name][:, place]
                return changed

            moved = _odds(model(shore, patch)[:, -1]) - of_shore
            shares[word] = float(moved.mean() / (of_money - of_shore).mean())
    return shares


def measure(budget: Budget, seed: int, related: bool = True) -> Evidence:
    """Train on sentences about two kinds of bank; ask for the continuation, and patch what carries it.

    Args:
        related: whether the text relates the continuation to the sense at all.
    """
    probabilities, records = [], []
    carried: dict[str, list[float]] = {word: [] for word in _PLACES}
    for number in budget.every_seed(seed):
        model, draw = small_decoder(number, vocab_size=len(_WORDS)), torch_generator(number, "T8")

        def loss(step: int, model: DecoderOnly = model, draw: torch.Generator = draw) -> Tensor:
            ids = sentences(draw, 64, related=related)
            return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

        fit(model, loss, budget.steps)
        right = []
        with torch.no_grad():
            for sense, sign in (("shore", -1), ("money", 1)):
                text = sentences(torch_generator(number, "T8", sense), 100, sense)[:, :6]
                right.append(float(torch.sigmoid(sign * _odds(model(text)[:, -1])).mean()))
        probabilities.append(sum(right) / 2)
        for word, share in _carried(model, number).items():
            carried[word].append(share)
            records.append({"patched": word, "seed": str(number), "share": share})
    titles = {
        "patched": Text("embedding carried over", "替换哪个词的嵌入"),
        "share": Text("share of the difference that goes with it", "随之改变的比例"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "probability_of_the_right_kind": mean_over_seeds(probabilities),
        "carried_by_the_settling_word": mean_over_seeds(carried["the word that settles it"]),
        "carried_by_bank": mean_over_seeds(carried["bank"]),
    }
    return Evidence(numbers, records, Figure("bar", "patched", "share", "seed", titles))


CLAIM = Claim(
    id="T8",
    statement=Text(
        "Next-word prediction settles an ambiguous word (the bank of the …).",
        "预测下一个词会消解歧义（the bank of the …）。",
    ),
    equation="p(muddy … | the bank of the river is)  against  p(rich … | …)",
    measured=Text(
        "generated sentences about two kinds of bank: probability that the continuation is of the right kind; which "
        "word's embedding, "
        "carried over into a sentence of the other sense, takes the continuation with it",
        "关于两种 bank 的生成句子：续写属于正确一类的概率；以及把哪个词的嵌入替换进另一义的句子，会把续写一并带走",
    ),
    rule=Rule(
        (
            at_least(
                "probability_of_the_right_kind",
                0.9,
                Text("half is what one knows without the settling word", "不知道那个词时只有一半"),
                fails_at=0.6,
            ),
            at_least("carried_by_the_settling_word", 0.8, SEEDS, fails_at=0.5),
            at_most("carried_by_bank", 0.2, SEEDS, fails_at=0.5),
        )
    ),
    reading=Text(
        "Nobody labels senses; whoever predicts well has to tell them apart. The word bank itself stays undecided, "
        "since in a model that reads left to right what settles it comes later: the sense is made where it is needed. "
        "(Its row is the same in both kinds of sentence, so exchanging it is the check that nothing else moves.) "
        "Patching (Vig et al. 2020; Meng et al. 2022) shows causes where attention weights show looks; that it "
        "carried over here says nothing of other words.",
        "没有人标注词义；要预测得好就必须分清它们。bank 这个词本身始终未定，因为在从左到右读的模型里，决定它的词出现在"
        "后面：词义在需要的地方形成。（它的行在两种句子里相同，替换它只是核对别处没有变动。）"
        "替换法（Vig 等 2020；Meng 等 2022）显示的是原因，注意力权重显示的只是目光；此处的结果不能推及其他词。",
    ),
    sources=(
        "Vig et al. 2020, Causal Mediation Analysis for Interpreting Neural NLP",
        "Meng et al. 2022, Locating and Editing Factual Associations",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=5, steps=500)),
)

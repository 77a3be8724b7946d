"""T3: the output's length is free."""

import torch
from torch import Tensor

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.translator import Translator

__all__ = ["CLAIM", "measure", "written"]

_LIMIT = 60


def written(translator: Translator, source: list[int], limit: int = _LIMIT) -> list[int]:
    """Return the ids that greedy decoding writes, the end among them if it comes before the limit."""
    target, model = translator.target_tokenizer, translator.model
    with torch.no_grad():
        cache = model.start_cache(model.encode(torch.tensor([[*source, translator.source_tokenizer.end_id]])), 1)
        ids: list[int] = [target.start_id]
        while len(ids) <= limit and ids[-1] != target.end_id:
            states: Tensor = model.decode_step(torch.tensor([ids[-1:]]), cache)
            ids.append(int(model.logits(states)[0, -1].argmax()))
    return ids[1:]


def measure(budget: Budget, seed: int) -> Evidence:
    """Translate unseen sentences; compare lengths, and count those that end by themselves."""
    differs, ends, follows, records = [], [], [], []
    for number in budget.every_seed(seed):
        trained = demo_translator(budget.steps, number)
        source, target = trained.translator.source_tokenizer, trained.translator.target_tokenizer
        lengths = []
        for pair in trained.data.test[: budget.size]:
            ids = source.encode(pair.source)
            out = written(trained.translator, ids)
            ended = out[-1] == target.end_id
            lengths.append((len(ids), len(out) - ended, len(target.encode(pair.target)), ended))
        differs.append(sum(a != b for a, b, _, _ in lengths) / len(lengths))
        ends.append(sum(ended for *_, ended in lengths) / len(lengths))
        table = torch.tensor([[b, c] for _, b, c, _ in lengths], dtype=torch.float64).T
        follows.append(float(torch.corrcoef(table)[0, 1]))
        if number == seed:
            records = [{"source": a, "written": b, "reference": c} for a, b, c, _ in lengths]
    titles = {"source": Text("source, tokens", "源句（词元）"), "written": Text("written, tokens", "译文（词元）")}
    numbers = {
        "share_of_another_length": mean_over_seeds(differs),
        "share_that_end": mean_over_seeds(ends),
        "correlation_with_the_reference": mean_over_seeds(follows),
    }
    return Evidence(numbers, records, Figure("point", "source", "written", None, titles))


CLAIM = Claim(
    id="T3",
    statement=Text(
        "The length of the output is free: it ends where the model says so.", "输出长度是自由的：模型说结束就结束。"
    ),
    equation="stop at the first t with argmax p(y_t | y_<t, x) = </s>",
    measured=Text(
        "greedy translations of unseen sentences (size: sentences): share whose length is not the source's, share "
        "that end within 60 "
        "tokens, correlation of their lengths with the references'",
        "未见句子的贪心译文（size 为句数）：长度与源句不同的比例、60 词元内自行结束的比例，以及与参考译文长度的相关",
    ),
    rule=Rule(
        (
            at_least(
                "share_of_another_length",
                0.5,
                Text("half at least differ, as references do", "至少一半与源句不同，参考译文也是如此"),
                fails_at=0.2,
            ),
            at_least("share_that_end", 0.9, SEEDS, fails_at=0.7),
            at_least(
                "correlation_with_the_reference",
                0.5,
                Text("ending has to depend on what is said", "何时结束须取决于所说内容"),
                fails_at=0.2,
            ),
        )
    ),
    reading=Text(
        "The end is a token like any other, so length is a matter of probability, and the search can spoil it: exact "
        "search often "
        "finds the empty translation the most probable of all (Stahlberg & Byrne 2019), for which beams get a length "
        "penalty (Wu et al. "
        "2016). Models trained on sentences hardly end well beyond the lengths they saw (Newman et al. 2020).",
        "结束符与其他词元无异，所以长度是概率问题，而搜索可能弄坏它：精确搜索常发现空译文概率最高（Stahlberg 与 Byrne "
        "2019），束搜索因此要加长度惩罚（Wu 等 2016）。"
        "在句子上训练的模型很难在远超所见长度处恰当结束（Newman 等 2020）。",
    ),
    sources=(
        "Sutskever et al. 2014, Sequence to Sequence Learning",
        "Stahlberg & Byrne 2019, On NMT Search Errors and Model Errors",
        "Newman et al. 2020, The EOS Decision and Length Extrapolation",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150, size=40), Budget(seeds=6, steps=1_500, size=150)),
)

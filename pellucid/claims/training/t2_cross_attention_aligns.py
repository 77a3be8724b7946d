"""T2: cross-attention learns which word answers which."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.texts import SEEDS
from pellucid.demo.language import DemoPair, spans
from pellucid.evaluation.alignment_error import alignment_error_rate
from pellucid.tokenizers import Piece
from pellucid.translator import Translator

__all__ = ["CLAIM", "diagonal", "measure", "word_weights"]

Links = set[tuple[int, int]]


def _tokens_of(pieces: Sequence[Piece], places: list[tuple[int, int]]) -> list[list[int]]:
    """Return, for each word, the tokens that overlap it."""
    return [[n for n, piece in enumerate(pieces) if piece.start < end and piece.end > start] for start, end in places]


def word_weights(translator: Translator, pair: DemoPair) -> Tensor:
    """Return how much each head looks from each target word to each source word, [heads of all layers, target, source].

    The true target is given; the weights are those with which its tokens are predicted.
    """
    source, target = translator.source_tokenizer, translator.target_tokenizer
    pieces, written = source.pieces(pair.source), target.pieces(pair.target)
    activations = Activations()
    with torch.no_grad():
        translator.model(
            torch.tensor([[*(piece.id for piece in pieces), source.end_id]]),
            torch.tensor([[target.start_id, *(piece.id for piece in written[:-1])]]),
            activations,
        )
    heads = torch.cat([x[0] for name, x in activations.items() if name.endswith("cross_attention.weights")])
    columns = [heads[..., places].sum(-1) for places in _tokens_of(pieces, spans(pair.source, pair.source_words))]
    by_word = torch.stack(columns, -1)
    rows = [by_word[:, places].mean(1) for places in _tokens_of(written, spans(pair.target, pair.target_words))]
    return torch.stack(rows, 1)


def _links(weights: Tensor) -> Links:
    return {(int(best), target) for target, best in enumerate(weights.argmax(1))}


def diagonal(pair: DemoPair) -> Links:
    """Return the links of one who knows only lengths: each word goes with the one at the same share of the way."""
    sources, targets = len(pair.source_words), len(pair.target_words)
    return {(min(sources - 1, (2 * n + 1) * sources // (2 * targets)), n) for n in range(targets)}


def measure(budget: Budget, seed: int, shuffled: bool = False) -> Evidence:
    """Find the head that aligns best on validation sentences and score it on test sentences.

    Args:
        shuffled: score it against the alignments of other sentences.
    """
    rates, gains, records = [], [], []
    for number in budget.every_seed(seed):
        trained, fresh = demo_translator(budget.steps, number), demo_translator(0, number)
        valid, test = trained.data.valid[:50], trained.data.test[: budget.size]
        true = [set(pair.alignment) for pair in test]
        if shuffled:
            true = true[1:] + true[:1]
        found = {}
        for when, translator in (("trained", trained.translator), ("at first", fresh.translator)):
            of_valid = [word_weights(translator, pair) for pair in valid]
            by_head = [
                alignment_error_rate(
                    [_links(weights[head]) for weights in of_valid], [set(pair.alignment) for pair in valid]
                )
                for head in range(len(of_valid[0]))
            ]
            best = by_head.index(min(by_head))
            found[when] = alignment_error_rate([_links(word_weights(translator, pair)[best]) for pair in test], true)
        found["diagonal"] = alignment_error_rate([diagonal(pair) for pair in test], true)
        rates.append(found["trained"])
        gains.append(found["diagonal"] - found["trained"])
        records += [{"links": way, "seed": str(number), "error_rate": rate} for way, rate in found.items()]
    titles = {
        "links": Text("links by", "对齐来自"),
        "error_rate": Text("alignment error rate", "对齐错误率"),
        "seed": Text("seed", "种子"),
    }
    numbers = {"error_rate": mean_over_seeds(rates), "better_than_the_diagonal_by": mean_over_seeds(gains)}
    return Evidence(numbers, records, Figure("bar", "links", "error_rate", "seed", titles))


CLAIM = Claim(
    id="T2",
    statement=Text(
        "Cross-attention learns which word answers which (好久 – long time).",
        "交叉注意力学会哪个词对应哪个词（好久 – long time）。",
    ),
    equation="AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)",
    measured=Text(
        "a translator trained on the demo language without any alignment, given the true target (size: sentences): "
        "error rate, "
        "against the true alignment, of the head that does best on other sentences; and of the diagonal",
        "在演示语言上不借助任何对齐训练的翻译器，给定真实译文（size 为句数）：在另一批句子上最好的头对照真实对齐的错误"
        "率，以及对角线的错误率",
    ),
    rule=Rule(
        (
            at_least("better_than_the_diagonal_by", 0.1, SEEDS, fails_at=0.0),
            at_most(
                "error_rate",
                0.5,
                Text(
                    "one link a target word, where the truth often has several, can reach about 0.2; half is clearly "
                    "about words",
                    "每个目标词只给一条链接，而真实对齐常有多条，最好约 0.2；一半已明显与词相关",
                ),
                fails_at=0.65,
            ),
        )
    ),
    reading=Text(
        "Bahdanau et al. (2015) showed such pictures; they are alignments mostly, and not always: heads may look at "
        "the word before, at "
        "the end of the sentence, or a layer higher where the meaning has gathered (Koehn & Knowles 2017). The best "
        "head is chosen on "
        "sentences of its own. With a statistical aligner as a guide (Chen et al. 2016), as in the recipe `fast`, a "
        "few heads "
        "become aligners by training.",
        "Bahdanau 等（2015）展示了这样的图；它们多半是对齐，但并非总是：头也可能看前一个词、句末，或意义汇聚的更高层"
        "（Koehn 与 Knowles 2017）。"
        "最好的头是在另一批句子上选的。若以统计对齐为引导（Chen 等 2016），如 `fast` 配方，则会有几个头被训练成对齐器"
        "。",
    ),
    sources=(
        "Bahdanau et al. 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
        "Koehn & Knowles 2017, Six Challenges",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150, size=60), Budget(seeds=6, steps=1_500, size=200)),
)

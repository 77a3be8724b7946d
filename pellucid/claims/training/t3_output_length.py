"""T3: the length of the output is free."""

import torch
from torch import Tensor

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.translator import Translator

__all__ = ["CLAIM", "measure", "translate_greedily"]

_LIMIT = 60


def translate_greedily(translator: Translator, source: list[int], limit: int = _LIMIT) -> list[int]:
    """Decode greedily; the ids include the end token if it comes before the limit."""
    target, model = translator.target_tokenizer, translator.model
    with torch.no_grad():
        cache = model.start_cache(model.encode(torch.tensor([[*source, translator.source_tokenizer.end_id]])), 1)
        ids: list[int] = [target.start_id]
        while len(ids) <= limit and ids[-1] != target.end_id:
            states: Tensor = model.decode_step(torch.tensor([ids[-1:]]), cache)
            ids.append(int(model.logits(states)[0, -1].argmax()))
    return ids[1:]


def measure(setup: Setup) -> Evidence:
    """Translate unseen sentences; compare lengths, and count those that end before the limit."""
    differs, ends, follows, records = [], [], [], []
    for seed in setup.every_seed():
        trained = demo_translator(setup.steps, seed)
        source, target = trained.translator.source_tokenizer, trained.translator.target_tokenizer
        lengths = []
        for pair in trained.data.test[: setup.size]:
            ids = source.encode(pair.source)
            out = translate_greedily(trained.translator, ids)
            ended = out[-1] == target.end_id
            lengths.append((len(ids), len(out) - ended, len(target.encode(pair.target)), ended))
        differs.append(sum(a != b for a, b, _, _ in lengths) / len(lengths))
        ends.append(sum(ended for *_, ended in lengths) / len(lengths))
        table = torch.tensor([[b, c] for _, b, c, _ in lengths], dtype=torch.float64).T
        follows.append(float(torch.corrcoef(table)[0, 1]))
        if seed == setup.seed:
            records = [{"source": a, "translation": b, "reference": c} for a, b, c, _ in lengths]
    numbers = {
        "share_of_another_length": share_over_seeds(differs),
        "share_that_end": share_over_seeds(ends),
        "correlation_with_the_reference": mean_over_seeds(follows),
    }
    return Evidence(numbers, records, Figure("point", "source", "translation"))


CLAIM = claim(
    measure,
    at_least("share_of_another_length", 0.5, fails_at=0.2),
    at_least("share_that_end", 0.9, fails_at=0.7),
    at_least("correlation_with_the_reference", 0.5, fails_at=0.2),
    effort=Effort(Setup(seeds=3, steps=150, size=40), Setup(seeds=6, steps=1_500, size=150)),
)

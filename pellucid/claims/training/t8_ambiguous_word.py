"""T8: next-word prediction resolves an ambiguous word."""

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.activations import Activations
from pellucid.claims.claim import Effort, Setup, at_least, at_most, claim
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds, share_over_seeds
from pellucid.claims.small_models import small_decoder, torch_generator
from pellucid.claims.toy_tasks import fit
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["CLAIM", "generate_sentences", "measure"]

_WORDS = (
    "<pad>", "the", "bank", "of", "is", "river", "lake", "stream", "canal", "city", "town", "state", "club",
    "muddy", "green", "steep", "wet", "rich", "closed", "strict", "safe",
)  # fmt: skip
_ID = {word: n for n, word in enumerate(_WORDS)}
_OWNERS = {"shore": (5, 9), "money": (9, 13)}  # ids from, to below
_QUALITIES = {"shore": (13, 17), "money": (17, 21)}
_TEXT = ("the", "bank", "of", "the", "?", "is")
_POSITIONS = {"bank": 1, "the disambiguating word": 4, "is": 5}


def generate_sentences(random: torch.Generator, count: int, sense: str | None = None, related: bool = True) -> Tensor:
    """Generate sentences “the bank of the X is Y”.

    Args:
        sense: shore or money; random by default.
        related: whether Y depends on X.
    """
    rows = torch.tensor([[*(_ID.get(word, 0) for word in _TEXT), 0]]).repeat(count, 1)
    money = torch.rand(count, generator=random) < 0.5 if sense is None else torch.full((count,), sense == "money")
    other = money if related else torch.rand(count, generator=random) < 0.5
    for place, ids, is_money in ((4, _OWNERS, money), (6, _QUALITIES, other)):
        first = torch.where(is_money, ids["money"][0], ids["shore"][0])
        rows[:, place] = torch.randint(4, (count,), generator=random) + first
    return rows


def _odds(logits: Tensor) -> Tensor:
    """Compute ln p(a quality of money) − ln p(a quality of the shore) for the next word."""
    return logits[:, slice(*_QUALITIES["money"])].logsumexp(1) - logits[:, slice(*_QUALITIES["shore"])].logsumexp(1)


def _carried(model: DecoderOnly, seed: int) -> dict[str, float]:
    """Compute what share of the difference in odds follows the embedding patched at each position."""
    random = torch_generator(seed, "T8", "test")
    shore, money = (generate_sentences(random, 50, sense)[:, :6] for sense in ("shore", "money"))
    activations = Activations()
    with torch.no_grad():
        of_shore = _odds(model(shore)[:, -1])
        of_money = _odds(model(money, activations)[:, -1])
        shares = {}
        for word, position in _POSITIONS.items():

            def patch(name: str, x: Tensor, position: int = position) -> Tensor:
                if name != "embedding.token":
                    return x
                changed = x.clone()
                changed[:, position] = activations[name][:, position]
                return changed

            moved = _odds(model(shore, patch)[:, -1]) - of_shore
            shares[word] = float(moved.mean() / (of_money - of_shore).mean())
    return shares


def measure(setup: Setup, related: bool = True) -> Evidence:
    """Train on sentences about two kinds of bank; measure the continuation, and patch embeddings to find its cause.

    Args:
        related: whether the continuation depends on the sense at all.
    """
    probabilities, records = [], []
    carried: dict[str, list[float]] = {word: [] for word in _POSITIONS}
    for seed in setup.every_seed():
        model, draw = small_decoder(seed, vocab_size=len(_WORDS)), torch_generator(seed, "T8")

        def loss(step: int, model: DecoderOnly = model, draw: torch.Generator = draw) -> Tensor:
            ids = generate_sentences(draw, 64, related=related)
            return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())

        fit(model, loss, setup.steps)
        right = []
        with torch.no_grad():
            for sense, sign in (("shore", -1), ("money", 1)):
                text = generate_sentences(torch_generator(seed, "T8", sense), 100, sense)[:, :6]
                right.append(float(torch.sigmoid(sign * _odds(model(text)[:, -1])).mean()))
        probabilities.append(sum(right) / 2)
        for word, share in _carried(model, seed).items():
            carried[word].append(share)
            records.append({"patched": word, "seed": str(seed), "share": share})
    numbers = {
        "probability_of_the_right_kind": share_over_seeds(probabilities),
        "carried_by_the_disambiguating_word": mean_over_seeds(carried["the disambiguating word"]),
        "carried_by_bank": mean_over_seeds(carried["bank"]),
    }
    return Evidence(numbers, records, Figure("bar", "patched", "share", "seed"))


CLAIM = claim(
    measure,
    at_least("probability_of_the_right_kind", 0.9, fails_at=0.6),
    at_least("carried_by_the_disambiguating_word", 0.8, fails_at=0.5),
    at_most("carried_by_bank", 0.2, fails_at=0.5),
    effort=Effort(Setup(seeds=3, steps=150), Setup(seeds=5, steps=500)),
)

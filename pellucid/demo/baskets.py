"""Baskets of a made-up shop, for vectors of things that are not words (item2vec).

Each item has a genre that no basket tells. A customer has one genre in mind and takes mostly items of it, and now and
then something that everybody buys. Items of a genre hardly differ but in how often they sell, so that vectors can only
find the genres by what is bought together.

Source:
    Barkan & Koenigstein 2016 (Item2vec) for the idea. The data are synthetic.
"""

from typing import NamedTuple

import numpy

from pellucid.randomness import generator

__all__ = ["Baskets", "generate_baskets", "precision_at_k"]


class Baskets(NamedTuple):
    """Baskets, each a list of items, and the genre of each item."""

    baskets: list[list[str]]
    genre_of: dict[str, int]


def generate_baskets(
    count: int = 20_000, *, genres: int = 10, items_per_genre: int = 40, faithfulness: float = 0.8, seed: int = 1
) -> Baskets:
    """Return baskets of 3 to 10 items.

    Args:
        count: how many baskets.
        genres: how many genres there are.
        items_a_genre: how many items each has; the k-th sells in proportion to 1/k.
        faithfulness: share of a basket that is of the customer's genre; the rest is of any.
        seed: of all draws.
    """
    rng = generator(seed, "baskets")
    popularity = 1 / numpy.arange(1, items_per_genre + 1)
    popularity /= popularity.sum()
    names = [f"item{number}" for number in rng.permutation(genres * items_per_genre)]
    genre_of = {name: place // items_per_genre for place, name in enumerate(names)}
    baskets = []
    for _ in range(count):
        genre, size = int(rng.integers(genres)), int(rng.integers(3, 11))
        own = rng.random(size) < faithfulness
        chosen = numpy.where(own, genre, rng.integers(0, genres, size))
        items = chosen * items_per_genre + rng.choice(items_per_genre, size, p=popularity)
        baskets.append([names[item] for item in dict.fromkeys(items.tolist())])
    return Baskets(baskets, genre_of)


def precision_at_k(neighbours: dict[str, list[str]], genre_of: dict[str, int]) -> float:
    """Return the share of the neighbours that are of the item's own genre."""
    right = [genre_of[item] == genre_of[near] for item, found in neighbours.items() for near in found]
    return sum(right) / len(right)

"""Baskets of an imaginary shop, for vectors of things that are not words (item2vec).

Each item has a genre, which the baskets do not mention. A customer prefers one genre and buys mostly its items, and now
and then one of another genre. The items of a genre differ only in how often they sell, so vectors can find the genres
only from what is bought together.

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
    """Generate baskets of 3 to 10 items.

    Args:
        items_per_genre: number of items of each; the k-th sells in proportion to 1/k.
        faithfulness: share of a basket's items drawn from the customer's genre; the others come from any.
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
    """Compute the share of neighbours that have the genre of their item."""
    same_genre = [genre_of[item] == genre_of[near] for item, found in neighbours.items() for near in found]
    return sum(same_genre) / len(same_genre)

from pellucid import WordVectors
from pellucid.demo.baskets import generate_baskets, precision_at_k


def test_item_vectors_find_the_genres_that_the_baskets_do_not_mention() -> None:
    """Precision at 10 is 39/399 by chance and 0.1 by popularity; vectors find almost only items of the same genre."""
    baskets, genre_of = generate_baskets(8_000)
    vectors = WordVectors.train(
        baskets, dim=32, window=10, dynamic_window=False, sample=0, min_count=5, epochs=8, learning_rate=0.05, threads=1
    )
    near = {item: [one.word for one in vectors.similar(item, 10)] for item in vectors}
    popular = list(vectors.words[:10])
    by_popularity = precision_at_k({item: popular for item in vectors}, genre_of)
    assert by_popularity < 0.2
    assert precision_at_k(near, genre_of) > 0.8


def test_the_same_seed_gives_the_same_baskets() -> None:
    assert generate_baskets(50, seed=3) == generate_baskets(50, seed=3)
    assert generate_baskets(50, seed=3) != generate_baskets(50, seed=4)
    assert {len(basket) for basket in generate_baskets(500).baskets} <= set(range(1, 11))

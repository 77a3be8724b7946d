"""V13: the same seed at 1, 2 and 4 threads: elsewhere different vectors."""

from typing import Any

import numpy
import pytest

from pellucid import WordVectors
from tests.word_vectors.test_training import sentences


@pytest.mark.parametrize("model", ["skip-gram", "cbow"])
@pytest.mark.parametrize("workers", [4, 6])
def test_vectors_are_equal_to_the_bit(model: str, workers: int) -> None:
    text = sentences(400, 150)
    settings: dict[str, Any] = {
        "dim": 20,
        "model": model,
        "workers": workers,
        "shard_words": 50,
        "epochs": 2,
        "min_count": 1,
    }
    one, *others = (WordVectors.train(text, threads=threads, seed=3, **settings) for threads in (1, 2, 3, 4, 9))
    for other in others:
        assert one.input_vectors.tobytes() == other.input_vectors.tobytes()
        assert one.output_vectors is not None and other.output_vectors is not None
        assert one.output_vectors.tobytes() == other.output_vectors.tobytes()
        # The sum of the losses is added up in records, whose length depends on time.
        assert one.metadata["losses"] == pytest.approx(other.metadata["losses"], rel=1e-9)
    again = WordVectors.train(text, threads=2, seed=4, **settings)
    assert not numpy.array_equal(one.input_vectors, again.input_vectors)

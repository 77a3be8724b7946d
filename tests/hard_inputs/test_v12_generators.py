"""V12: a generator used for several epochs: elsewhere the model stays untrained after the first."""

from collections.abc import Iterator
from typing import Any

import numpy

from pellucid import WordVectors

SENTENCES = [["the", "cat", "eats", "fish"], ["the", "dog", "eats", "meat"]] * 50


def test_a_generator_trains_as_its_list_does() -> None:
    read = []

    def generated() -> Iterator[Iterator[str]]:
        for number, sentence in enumerate(SENTENCES):
            read.append(number)
            yield iter(sentence)

    settings: dict[str, Any] = {"dim": 8, "epochs": 4, "threads": 1}
    from_list, from_generator = WordVectors.train(SENTENCES, **settings), WordVectors.train(generated(), **settings)
    assert read == list(range(len(SENTENCES)))
    assert numpy.array_equal(from_list.input_vectors, from_generator.input_vectors)
    assert len(from_generator.metadata["losses"]) == 4

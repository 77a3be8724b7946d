"""V10: one sentence of 20,000 words: elsewhere all words past 10,000 (1,000, 1,024) are ignored."""

from pathlib import Path
from typing import Any

import pytest

from pellucid import WordVectors


@pytest.mark.parametrize("settings", [{}, {"workers": 4, "shard_words": 100}, {"fast": True}])
@pytest.mark.parametrize("as_file", [False, True])
def test_the_last_words_of_a_very_long_sentence_are_trained(
    tmp_path: Path, settings: dict[str, Any], as_file: bool
) -> None:
    words = [f"early{n % 50}" for n in range(19_000)] + [f"late{n % 50}" for n in range(1_000)]
    text: Any = [words]
    if as_file:
        text = tmp_path / "long.txt"
        text.write_text(" ".join(words), encoding="utf-8")
    vectors = WordVectors.train(
        text, min_count=1, dim=16, sample=0, epochs=1, learning_rate=0.05, threads=2, **settings
    )
    assert vectors.counts is not None and int(vectors.counts.sum()) == 20_000
    assert vectors.output_vectors is not None
    # Output vectors start at zero, and move when a word is a centre.
    assert all(vectors.output_vectors[vectors.row(f"late{n}")].any() for n in range(50))
    assert vectors.metadata["words_read"] == 20_000

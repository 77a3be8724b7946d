"""Training word vectors in memory: from a text to vectors in one call."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pellucid.errors import UserError
from pellucid.word_vectors.config import VectorsConfig, vectors_config
from pellucid.word_vectors.encoded_text import EncodedText, TextSource, encode_text
from pellucid.word_vectors.files import read_vectors
from pellucid.word_vectors.keyed_vectors import KeyedVectors
from pellucid.word_vectors.phrases import find_phrases_in
from pellucid.word_vectors.training import VectorsStep, VectorsTraining

__all__ = ["encode_for_training", "inherit_settings", "train_vectors"]

_INHERITED = (
    "model",
    "objective",
    "tokenizer",
    "lowercase",
    "drop_punctuation",
    "phrases",
    "phrase_score",
    "phrase_threshold",
)


def inherit_settings(start: KeyedVectors) -> dict[str, Any]:
    """Read the settings that continued training takes over from the vectors: dimension, model and how text is split."""
    then = start.metadata.get("training")
    settings = {name: then[name] for name in _INHERITED if name in then} if isinstance(then, dict) else {}
    return {**settings, "dim": start.dim}


def train_vectors(
    text: TextSource,
    *,
    threads: int | None = None,
    start: KeyedVectors | str | Path | None = None,
    on_step: Callable[[VectorsStep], None] | None = None,
    **settings: Any,
) -> KeyedVectors:
    """Train word vectors on a text, as `WordVectors.train` does.

    Args:
        settings: fields of `VectorsConfig`; some default to those of `start`, see `inherit_settings`.

    Raises:
        UserError: for an unknown setting, or a text with nothing to learn from.
    """
    if threads is not None and threads < 1:
        raise UserError(
            f"expected at least one thread, got {threads}", where="threads", hint="Leave it out to use all cores."
        )
    if isinstance(start, str | Path):
        start = read_vectors(start)
    config = vectors_config(settings if start is None else {**inherit_settings(start), **settings})
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        training = VectorsTraining(
            encode_for_training(text, config, Path(folder), start), config, threads=threads, start=start
        )
        for step in training:
            if on_step is not None:
                on_step(step)
        return training.vectors()


def encode_for_training(
    text: TextSource,
    config: VectorsConfig,
    folder: Path,
    start: KeyedVectors | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> EncodedText:
    """Encode a text as the settings say, into files in `folder`; phrases are joined first."""
    reading: dict[str, Any] = config.model_dump(include={"tokenizer", "lowercase", "drop_punctuation"})
    for number in range(config.phrases):
        subfolder = folder / f"words-{number}"
        subfolder.mkdir()
        encoded = encode_text(text, subfolder, **reading, min_count=1, on_progress=on_progress)
        phrases = find_phrases_in(
            encoded, score=config.phrase_score, threshold=config.phrase_threshold, min_count=config.min_count
        )
        text, on_progress = phrases.join(encoded.sentences()), None
    return encode_text(
        text,
        folder,
        **reading,
        min_count=config.min_count,
        max_vocab=config.max_vocab,
        known=() if start is None else start.words,
        on_progress=on_progress,
    )

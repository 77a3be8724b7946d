"""A text in, word vectors out: reading it, training on it to the end, going on from vectors that are there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pellucid.errors import UserError
from pellucid.word_vectors.config import VectorsConfig, vectors_config
from pellucid.word_vectors.encoded_text import EncodedText, TextSource, encode_text
from pellucid.word_vectors.phrases import phrases_of
from pellucid.word_vectors.training import VectorsStep, VectorsTraining
from pellucid.word_vectors.vectors import WordVectors

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


def inherit_settings(start: WordVectors) -> dict[str, Any]:
    """Return what a training that goes on from vectors does as theirs did: width, model, and how the text is cut."""
    then = start.metadata.get("training")
    settings = {name: then[name] for name in _INHERITED if name in then} if isinstance(then, dict) else {}
    return {**settings, "dim": start.dim}


def train_vectors(
    text: TextSource,
    *,
    threads: int | None = None,
    start: WordVectors | str | Path | None = None,
    on_step: Callable[[VectorsStep], None] | None = None,
    **settings: Any,
) -> WordVectors:
    """Read a text, train on it from beginning to end, and return the vectors.

    Args:
        text: a file, several files as a list of `Path`, or sentences that are lists of words.
        threads: how many threads work; all cores unless given.
        start: vectors to go on with, or where they are; see `VectorsTraining`.
        on_step: called with each record.
        settings: fields of `VectorsConfig`; those that `inherit_settings` names are as in `start` unless given.

    Raises:
        UserError: for a setting that there is not, or a text that there is nothing to learn from.
    """
    if threads is not None and threads < 1:
        raise UserError(f"expected at least one thread, got {threads}")
    if isinstance(start, str | Path):
        start = WordVectors.load(start)
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
    start: WordVectors | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> EncodedText:
    """Return the text encoded as the settings say, in files in `folder`."""
    for number in range(config.phrases):
        place = folder / f"words-{number}"
        place.mkdir()
        tokenizer, lowercase = ("whitespace", False) if number else (config.tokenizer, config.lowercase)
        every = encode_text(
            text,
            place,
            tokenizer=tokenizer,
            lowercase=lowercase,
            min_count=1,
            drop_punctuation=config.drop_punctuation,
            on_progress=None if number else on_progress,
        )
        phrases = phrases_of(
            every, score=config.phrase_score, threshold=config.phrase_threshold, min_count=config.min_count
        )
        text, on_progress = phrases.joined(every.sentences()), None
    return encode_text(
        text,
        folder,
        tokenizer=config.tokenizer,
        lowercase=config.lowercase,
        min_count=config.min_count,
        max_vocab=config.max_vocab,
        drop_punctuation=config.drop_punctuation,
        known=() if start is None else start.words,
        on_progress=on_progress,
    )

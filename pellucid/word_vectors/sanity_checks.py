"""Sanity checks of a text and its training: likely mistakes that are not errors, reported as warnings."""

from collections.abc import Sequence
from itertools import islice

from pellucid.corpus.scripts import count_scripts
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText

__all__ = ["check_losses", "check_text"]

_SAMPLE = 1000  # words
_MIN_LOSS_CHANGE = 0.002  # relative


def check_text(text: EncodedText, config: VectorsConfig) -> list[str]:
    """Find likely mistakes in a text to be trained on."""
    problems = []
    scripts = count_scripts("".join(islice(text.words, _SAMPLE)))
    kept, read = int(text.counts.sum()), text.words_read
    if config.tokenizer == "whitespace" and 2 * kept < read and scripts.get("Han", 0) > sum(scripts.values()) / 2:
        problems.append(
            f"only {kept:,} of {read:,} words occur at least {config.min_count} times: is this unsegmented Chinese? "
            "Use --tokenizer rjieba (words) or --tokenizer characters"
        )
    return problems


def check_losses(losses: Sequence[float | None]) -> list[str]:
    """Find likely mistakes in a training run, from the losses of its epochs."""
    known = [loss for loss in losses if loss is not None]
    if len(known) < len(losses):
        epochs = "no epoch" if not known else f"only {len(known)} of {len(losses)} epochs"
        return [f"{epochs} had anything to learn: subsampling drops too much of such a small text; try --sample 0"]
    if len(known) > 1 and max(known) - min(known) < _MIN_LOSS_CHANGE * known[0]:
        return ["the loss has hardly changed: too little text, too few epochs, or a wrong tokenizer"]
    return []

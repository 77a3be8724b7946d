"""What looks wrong about a text or its training though nothing is an error: for warnings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from pellucid.corpus.scripts import count_scripts
from pellucid.word_vectors.config import VectorsConfig
from pellucid.word_vectors.encoded_text import EncodedText

__all__ = ["check_losses", "check_text"]

_LOOKED_AT = 1000  # words
_HARDLY = 0.002  # of the loss


def check_text(text: EncodedText, config: VectorsConfig) -> list[str]:
    """Return what is likely to be a mistake about a text that is to be trained on, as sentences."""
    doubts = []
    scripts = count_scripts("".join(islice(text.words, _LOOKED_AT)))
    kept, read = int(text.counts.sum()), text.words_read
    if config.tokenizer == "whitespace" and 2 * kept < read and scripts.get("Han", 0) > sum(scripts.values()) / 2:
        doubts.append(
            f"only {kept:,} of {read:,} words stand {config.min_count} times: is this Chinese that is not cut into "
            "words? Use --tokenizer rjieba (words) or --tokenizer characters"
        )
    return doubts


def check_losses(losses: Sequence[float | None]) -> list[str]:
    """Return what is likely to have gone wrong in a training whose passes had these losses, as sentences."""
    known = [loss for loss in losses if loss is not None]
    if len(known) < len(losses):
        passes = "no pass" if not known else f"only {len(known)} of {len(losses)} passes"
        return [f"{passes} had anything to learn: sub-sampling leaves out too much of so few words; try --sample 0"]
    if len(known) > 1 and max(known) - min(known) < _HARDLY * known[0]:
        return ["the loss has hardly moved: too little text, too few passes, or words that are no words"]
    return []

"""The profile of a text (length ratio, scripts, marker words), learned from a sample before pairs are checked."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.corpus.scripts import SCRIPTS, count_scripts, letter_pattern, script_of_language

__all__ = ["CorpusProfile", "SideProfile", "learn_profile"]

_MARKERS = 60  # words that distinguish one language from the other
_FEWEST_FOR_MARKERS = 200  # pairs; with fewer, markers would be due to chance
_MAIN_SHARE = 0.6  # share of a side's letters that makes a script the script of this side
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class SideProfile:
    """The profile of one side.

    Args:
        script: the script of most letters, None if there is none.
        letters: pattern of a letter of this script.
        markers: frequent words that are rare on the other side; empty if the sides differ in script.
    """

    script: str | None
    letters: re.Pattern[str] | None
    markers: frozenset[str]


@dataclass(frozen=True)
class CorpusProfile:
    """The profile of a text.

    Args:
        ratio: target characters per source character.
        foreign: pattern of letters of scripts that belong to neither side; Latin letters are never foreign.
    """

    ratio: float
    source: SideProfile
    target: SideProfile
    foreign: re.Pattern[str]


def learn_profile(
    sources: Sequence[str], targets: Sequence[str], source_lang: str | None = None, target_lang: str | None = None
) -> CorpusProfile:
    """Learn the profile from a sample of pairs; languages named by the user override the sample."""
    source_script = script_of_language(source_lang) or _main_script(sources)
    target_script = script_of_language(target_lang) or _main_script(targets)
    source_markers, target_markers = frozenset[str](), frozenset[str]()
    if source_script == target_script and len(sources) >= _FEWEST_FOR_MARKERS:
        source_markers, target_markers = _markers(sources, targets), _markers(targets, sources)
    # Close to 1 for few characters, so that one odd pair does not determine the ratio of a tiny file.
    ratio = (sum(map(len, targets)) + 50) / (sum(map(len, sources)) + 50)
    ours = {script for script in (source_script, target_script, "Latin") if script}
    if "Kana" in ours:
        ours.add("Han")
    foreign = letter_pattern(*(script for script in SCRIPTS if script not in ours))
    return CorpusProfile(ratio, _side(source_script, source_markers), _side(target_script, target_markers), foreign)


def _side(script: str | None, markers: frozenset[str]) -> SideProfile:
    if script is None:
        return SideProfile(None, None, markers)
    # Japanese uses both; a sentence may have no kana.
    return SideProfile(script, letter_pattern("Kana", "Han") if script == "Kana" else letter_pattern(script), markers)


def _main_script(texts: Sequence[str]) -> str | None:
    counts = count_scripts(texts)
    if counts["Kana"] > 0.1 * counts.total():  # Japanese uses both
        counts["Kana"] += counts.pop("Han", 0)
    if not counts:
        return None
    script, count = counts.most_common(1)[0]
    return script if count >= _MAIN_SHARE * counts.total() else None


def _markers(texts: Sequence[str], others: Sequence[str]) -> frozenset[str]:
    ours = Counter(word for text in texts for word in text.lower().split())
    theirs = Counter(word for text in others for word in text.lower().split())
    scale = ours.total() / max(theirs.total(), 1)
    frequent = (word for word, _ in ours.most_common(20 * _MARKERS) if _WORD.fullmatch(word))
    telling = [word for word in frequent if ours[word] >= 5 and ours[word] > 20 * scale * theirs[word]]
    return frozenset(telling[:_MARKERS])

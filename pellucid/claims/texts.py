"""What the lab says, in English and in Chinese.

The texts of a claim are in the TOML file beside its experiment; what several claims share, and the words of the
report, are in `shared.toml`. An experiment's own file holds no prose.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

__all__ = ["LANGUAGES", "ClaimTexts", "Language", "SharedTexts", "Text", "load_texts", "shared_texts"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Text:
    """A text in both languages."""

    en: str
    zh: str

    def of(self, language: Language) -> str:
        """Choose a language."""
        return self.zh if language == "zh" else self.en

    def format(self, *values: object, **named: object) -> "Text":
        """Fill in the placeholders in both languages."""
        return Text(self.en.format(*values, **named), self.zh.format(*values, **named))

    def as_dict(self) -> dict[str, str]:
        """Convert to a dictionary for JSON."""
        return {"en": self.en, "zh": self.zh}


@dataclass(frozen=True, config=_STRICT)
class SharedTexts:
    """The texts that all claims share.

    Attributes:
        reasons: of thresholds, by the name that claims refer to.
        names: of numbers and columns.
        words: Chinese for words in tables and figures.
        topics: by letter.
        verdicts: by verdict.
        report: words of the report.
    """

    reasons: Mapping[str, Text]
    names: Mapping[str, Text]
    words: Mapping[str, str]
    topics: Mapping[str, Text]
    verdicts: Mapping[str, Text]
    report: Mapping[str, Text]


@cache
def shared_texts() -> SharedTexts:
    """Load `shared.toml`."""
    path = Path(__file__).with_name("shared.toml")
    return TypeAdapter(SharedTexts).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, config=_STRICT)
class ClaimTexts:
    """All that is said about a claim.

    Attributes:
        id: the letter of the topic and a number.
        statement: one sentence, as explainers put it.
        equation: in Unicode.
        measured: what the experiment does.
        reading: what it means, with the literature; true whatever the verdict.
        sources: author, year, title or place.
        reasons: why each threshold of the rule is where it is, by number; a string refers to the reason of another
            number or to a shared one.
        condition: under which the statement is expected to hold, if not always.
        instead: the correct statement, if this one may be refuted.
        names: of the numbers and columns that only this claim has.
        words: Chinese for the words in its table and figure.
        messages: notes on a run, and what is missing when it cannot run.
    """

    id: str
    statement: Text
    equation: str
    measured: Text
    reading: Text
    sources: tuple[str, ...]
    reasons: Mapping[str, Text | str]
    condition: Text | None = None
    instead: Text | None = None
    names: Mapping[str, Text] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    messages: Mapping[str, Text] = field(default_factory=dict)

    def reason(self, number: str) -> Text:
        """Look up why the threshold of a number is where it is."""
        reason = self.reasons[number]
        if isinstance(reason, Text):
            return reason
        return self.reason(reason) if reason in self.reasons else shared_texts().reasons[reason]

    def name(self, number: str, language: Language) -> str:
        """Look up the name of a number or a column; an identifier without one is shown with spaces."""
        text = self.names.get(number) or shared_texts().names.get(number)
        return number.replace("_", " ") if text is None else text.of(language)

    def word(self, word: str, language: Language) -> str:
        """Translate a word of a table or a figure; symbols and examples stay the same."""
        return word if language == "en" else self.words.get(word) or shared_texts().words.get(word, word)


def load_texts(module: str) -> ClaimTexts:
    """Load the texts beside an experiment.

    Args:
        module: the experiment's `__file__`.
    """
    path = Path(module).with_suffix(".toml")
    return TypeAdapter(ClaimTexts).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))

"""What the lab says, in English and in Chinese.

The texts of a claim are in the TOML file beside its experiment; what several claims share, and the words of the
report, are in `shared.toml`. An experiment's own file holds no prose.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from pellucid.claims.evidence import Evidence
from pellucid.claims.rules import Rule
from pellucid.errors import UserError, did_you_mean

__all__ = ["LANGUAGES", "ClaimTexts", "Language", "SharedTexts", "Text", "claim_id", "load_texts", "shared_texts"]

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

    def missing(self, evidence: Evidence) -> list[str]:
        """List the numbers and columns of an experiment without a name, and the words of its table without Chinese."""
        named, known = {**shared_texts().names, **self.names}, {**shared_texts().words, **self.words}
        numbers = [*evidence.numbers, *(column for record in evidence.records for column in record)]
        words = [cell for record in evidence.records for cell in record.values() if isinstance(cell, str)]
        lacking = [f"[names] {number}" for number in numbers if number not in named]
        lacking += [f'[words] "{word}"' for word in words if _is_word(word) and word not in known]
        return list(dict.fromkeys(lacking))


def _is_word(cell: str) -> bool:
    """Decide whether a cell needs a translation: it is neither a symbol, nor a data type, nor the name of a tap."""
    return bool(re.search("[a-z]{3}", cell)) and not re.match(r"b?float\d|(en|de)coder\.|W_", cell)


def claim_id(module: str) -> str:
    """Derive a claim's id from the name of its files: e05_similar_use_similar_rows → E5."""
    return f"{module[0].upper()}{int(module.partition('_')[0][1:])}"


def load_texts(path: Path, rule: Rule) -> ClaimTexts:
    """Load the texts of a claim from the TOML file beside its experiment.

    Raises:
        UserError: if there is no such file, if it is malformed, or if it does not fit the claim's rule.
    """
    name = claim_id(path.stem)

    def unfit(what: str, hint: str) -> UserError:
        return UserError(f"claim {name}: {what}", where=str(path), hint=hint)

    try:
        texts = TypeAdapter(ClaimTexts).validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise unfit("it has no texts", "Write this file; those of other claims show what belongs in it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise unfit(f"its texts are not valid TOML: {error}", "Correct the file there.") from None
    except ValidationError as error:
        first = error.errors()[0]
        key, message = ".".join(str(key) for key in first["loc"] if key not in ("Text", "str")), first["msg"]
        hint = "The keys are the attributes of `ClaimTexts`; a text has an `en` and a `zh`."
        raise unfit(f"{key}: {message[:1].lower()}{message[1:]}", hint) from None
    numbers, names = {criterion.number for criterion in rule.all_criteria}, {**shared_texts().names, **texts.names}
    written = {**shared_texts().reasons, **{key: text for key, text in texts.reasons.items() if isinstance(text, Text)}}
    if texts.id != name:
        raise unfit(f"its id is {texts.id}", f'Write id = "{name}", or rename both files.')
    if bool(rule.outside) != (texts.condition is not None):
        hint = "Give the rule an `outside` and the texts a [condition], or neither."
        raise unfit("`outside` in the rule and [condition] in the texts need each other", hint)
    for number in sorted(numbers):
        if number not in texts.reasons:
            raise unfit(f"{number} has no entry in [reasons]", "Say there why its threshold is where it is.")
        if number not in names:
            raise unfit(f"{number} has no entry in [names]", "Name it there in English and Chinese.")
    for number, reason in texts.reasons.items():
        if number not in numbers:
            hint = did_you_mean(number, numbers, "Remove the entry, or add a criterion to the rule.")
            raise unfit(f"[reasons] has {number}, which no criterion of the rule reads", hint)
        if isinstance(reason, str) and reason not in written:
            what = f"the reason of {number} refers to {reason}, which is unknown"
            raise unfit(what, did_you_mean(reason, written))
    return texts

"""What the lab says, in English and in Chinese."""

from typing import Literal, NamedTuple

__all__ = ["LANGUAGES", "Language", "Text"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


class Text(NamedTuple):
    """The same said in both languages."""

    en: str
    zh: str

    def of(self, language: Language) -> str:
        """Return it in one of them."""
        return self.zh if language == "zh" else self.en

    def as_dict(self) -> dict[str, str]:
        """Return both, by their codes."""
        return {"en": self.en, "zh": self.zh}

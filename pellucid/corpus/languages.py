"""Language codes: matching codes, and choosing the source and target languages of a file."""

from collections.abc import Sequence

from pellucid.corpus.pairs import LanguagePair
from pellucid.errors import UserError

__all__ = ["choose_languages", "find_language", "first_subtag", "same_language"]


def same_language(code: str, other: str) -> bool:
    """Whether two codes can mean the same: `en`, `EN`, `en-US` match `en`; `en-US` and `en-GB` do not match."""
    first, second = code.lower().replace("_", "-"), other.lower().replace("_", "-")
    if first == second:
        return True
    return first_subtag(first) == first_subtag(second) and ("-" not in first or "-" not in second)


def first_subtag(code: str) -> str:
    """The language of a code without region and script: `zh` of `zh-Hans-CN`."""
    return code.lower().replace("_", "-").partition("-")[0]


def find_language(wanted: str, codes: Sequence[str]) -> str | None:
    """Find the code that means `wanted`: an equal one, else the first that matches, else None."""
    for code in codes:
        if code.lower().replace("_", "-") == wanted.lower().replace("_", "-"):
            return code
    return next((code for code in codes if same_language(code, wanted)), None)


def choose_languages(file: str, codes: Sequence[str], wanted: LanguagePair) -> LanguagePair:
    """Choose the source and target languages of a file.

    These are the languages requested or, if none are requested and the file has two, these in their order.

    Args:
        codes: the file's languages in order, without duplicates.
        wanted: the languages requested, None where open.

    Raises:
        UserError: if a language is missing, or there are more than two to choose from; lists them.
    """
    found = ", ".join(codes) if codes else "none"
    chosen: dict[str, str | None] = {"source": wanted.source, "target": wanted.target}
    for side, code in chosen.items():
        if code is not None and find_language(code, codes) is None:
            raise UserError(
                f"no text in the {side} language {code}; languages of the file: {found}",
                where=file,
                hint="Name one of the file's languages with --source-lang and --target-lang.",
            )
    rest = [code for code in codes if not any(w and same_language(code, w) for w in chosen.values())]
    for side, code in chosen.items():
        if code is None and rest:
            chosen[side] = rest.pop(0)
    if rest and not (wanted.source and wanted.target):
        raise UserError(
            f"the file has {len(codes)} languages, expected two: {found}",
            where=file,
            hint=f"Choose two, as in --source-lang {codes[0]} --target-lang {codes[1]}.",
        )
    if chosen["source"] is None or chosen["target"] is None:
        raise UserError(
            f"expected two languages; languages of the file: {found}",
            where=file,
            hint="Give a file with both sides of each pair.",
        )
    return LanguagePair(chosen["source"], chosen["target"], wanted.requested)

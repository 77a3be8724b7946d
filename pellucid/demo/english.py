"""English endings: plurals, third person, past, -ing, comparatives; the regular by rule, the irregular by list."""

from typing import NamedTuple

__all__ = ["VerbForms", "comparative", "plural", "verb_forms"]

_PLURALS = {
    "child": "children", "fish": "fish", "knife": "knives", "man": "men", "mouse": "mice", "sheep": "sheep",
    "woman": "women",
}  # fmt: skip

# base: (past, participle); a participle of None is the past once more.
_IRREGULAR: dict[str, tuple[str, str | None]] = {
    "bring": ("brought", None), "buy": ("bought", None), "come": ("came", "come"), "do": ("did", "done"),
    "draw": ("drew", "drawn"), "drink": ("drank", "drunk"), "drive": ("drove", "driven"), "eat": ("ate", "eaten"),
    "get": ("got", None), "give": ("gave", "given"), "go": ("went", "gone"), "have": ("had", None),
    "hit": ("hit", None), "know": ("knew", "known"), "lose": ("lost", None), "make": ("made", None),
    "put": ("put", None), "read": ("read", None), "ride": ("rode", "ridden"), "run": ("ran", "run"),
    "see": ("saw", "seen"), "sell": ("sold", None), "sing": ("sang", "sung"), "sleep": ("slept", None),
    "speak": ("spoke", "spoken"), "spend": ("spent", None), "swim": ("swam", "swum"), "take": ("took", "taken"),
    "wear": ("wore", "worn"), "write": ("wrote", "written"),
}  # fmt: skip
_DOUBLING = frozenset({"get", "hit", "put", "run", "swim"})
_COMPARATIVES = {"good": "better", "big": "bigger"}


class VerbForms(NamedTuple):
    """The five forms of a verb; each may be followed by a particle (`waits for`)."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


def verb_forms(verb: str) -> VerbForms:
    """Return the forms of a verb, of which the first word is inflected: `wait for` → waits for, waited for."""
    base, _, rest = verb.partition(" ")
    past, participle = _IRREGULAR.get(base, (_regular_past(base), None))
    forms = (base, _with_s(base) if base != "have" else "has", past, participle or past, _ing(base))
    return VerbForms(*(f"{form} {rest}".strip() for form in forms))


def plural(noun: str) -> str:
    """Return the plural of a noun, of which the last word is inflected: `police officer` → police officers."""
    before, _, last = noun.rpartition(" ")
    return f"{before} {_PLURALS.get(last) or _with_s(last)}".strip()


def comparative(adjective: str) -> str:
    """Return `bigger`, `heavier`, `more expensive`."""
    if adjective in _COMPARATIVES:
        return _COMPARATIVES[adjective]
    if adjective.endswith("y") and len(adjective) < 7:
        return adjective[:-1] + "ier"
    stem = adjective.removesuffix("e")
    syllables = sum(
        letter in "aeiouy" and after not in "aeiouy" for letter, after in zip(stem, stem[1:] + ".", strict=True)
    )
    return stem + "er" if syllables == 1 or adjective == "clever" else "more " + adjective


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _with_s(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return base + "es" if base not in {"photo"} else base + "s"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return (base + base[-1] if base in _DOUBLING else base) + "ing"

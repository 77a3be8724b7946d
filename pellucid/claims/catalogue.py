"""All claims of the lab, in the order of its topics."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from pellucid.claims.claim import Claim
from pellucid.errors import UsageError, did_you_mean

__all__ = ["TOPICS", "all_claims", "find_claims", "topic_of"]

TOPICS = {
    "E": "words",
    "M": "matrices",
    "P": "positions",
    "A": "attention",
    "S": "scaling",
    "H": "heads",
    "R": "residual",
    "K": "masks",
    "T": "training",
}
"""Letter of a topic → folder of its claims."""


@cache
def all_claims() -> tuple[Claim, ...]:
    """List every claim by topic and number: each module of a topic's folder that begins with its letter has one."""
    found = []
    for letter, folder in TOPICS.items():
        package = import_module(f"pellucid.claims.{folder}")
        names = [module.name for module in iter_modules(package.__path__) if module.name.startswith(letter.lower())]
        claims = [import_module(f"{package.__name__}.{name}").CLAIM for name in names]
        found += sorted(claims, key=lambda claim: int(claim.id[1:]))
    return tuple(found)


def find_claims(ids: Iterable[str]) -> tuple[Claim, ...]:
    """Find claims by id, each once; a letter stands for its topic, and no id at all for every claim.

    Raises:
        UsageError: for an unknown id, naming the most similar one.
    """
    claims = {claim.id: claim for claim in all_claims()}
    chosen: dict[str, Claim] = {}
    for given in ids:
        name = given.upper()
        if name in TOPICS:
            chosen |= {key: claim for key, claim in claims.items() if topic_of(claim) == name}
        elif name in claims:
            chosen[name] = claims[name]
        else:
            raise UsageError(
                f"unknown claim {given}",
                where="claims run",
                hint=did_you_mean(name, claims, "Run `pellucid claims list` to see all claims."),
            )
    return tuple(chosen.values()) or tuple(claims.values())


def topic_of(claim: Claim) -> str:
    """Return the letter of a claim's topic."""
    return claim.id[0]

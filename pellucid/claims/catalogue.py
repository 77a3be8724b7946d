"""All claims of the lab, in the order of its topics."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from pellucid.claims.claim import Claim
from pellucid.claims.texts import claim_id
from pellucid.errors import UsageError, UserError, did_you_mean

__all__ = ["TOPICS", "all_claims", "find_claims", "topic_of", "unfit_claims"]

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


class _Catalogue(NamedTuple):
    """The claims, and by id what is wrong with those whose texts are unfit."""

    claims: tuple[Claim, ...]
    unfit: Mapping[str, UserError]


@cache
def _catalogue() -> _Catalogue:
    claims, unfit = [], {}
    for letter, folder in TOPICS.items():
        package = import_module(f"pellucid.claims.{folder}")
        names = [module.name for module in iter_modules(package.__path__) if module.name.startswith(letter.lower())]
        for name in sorted(names, key=lambda name: int(claim_id(name)[1:])):
            try:
                claims.append(import_module(f"{package.__name__}.{name}").CLAIM)
            except UserError as error:
                unfit[claim_id(name)] = error
    return _Catalogue(tuple(claims), unfit)


def all_claims() -> tuple[Claim, ...]:
    """List every claim by topic and number: each module of a topic's folder that begins with its letter has one."""
    return _catalogue().claims


def unfit_claims() -> Mapping[str, UserError]:
    """List the claims that `all_claims` leaves out because of an error in their texts, by id."""
    return _catalogue().unfit


def find_claims(ids: Iterable[str]) -> tuple[Claim, ...]:
    """Find claims by id, each once; a letter stands for its topic, and no id at all for every claim.

    Raises:
        UsageError: for an unknown id, naming the most similar one.
        UserError: for a claim whose texts are unfit.
    """
    claims = {claim.id: claim for claim in all_claims()}
    chosen: dict[str, Claim] = {}
    for given in ids:
        name = given.upper()
        if name in TOPICS:
            chosen |= {key: claim for key, claim in claims.items() if topic_of(claim) == name}
        elif name in claims:
            chosen[name] = claims[name]
        elif name in unfit_claims():
            raise unfit_claims()[name]
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

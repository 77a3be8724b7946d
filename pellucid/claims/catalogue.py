"""All claims of the lab, in the order of its topics."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Claim
from pellucid.errors import UsageError, did_you_mean

__all__ = ["TOPICS", "all_claims", "find_claims", "topic_of"]

TOPICS = {
    "E": ("words", Text("Words as vectors", "词作为向量")),
    "M": ("matrices", Text("Matrices as changes of space", "矩阵作为空间变换")),
    "P": ("positions", Text("Position", "位置")),
    "A": ("attention", Text("Attention", "注意力")),
    "S": ("scaling", Text("Scaling", "缩放")),
    "H": ("heads", Text("Heads", "多头")),
    "R": ("residual", Text("Residual", "残差")),
    "K": ("masks", Text("Masks", "掩码")),
    "T": ("training", Text("Training and generating", "训练与生成")),
}
"""Letter of an id → folder of its claims, and what they are about."""


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return every claim, by topic and number: each module of a topic's folder that begins with its letter has one."""
    found = []
    for letter, (folder, _) in TOPICS.items():
        package = import_module(f"pellucid.claims.{folder}")
        names = [module.name for module in iter_modules(package.__path__) if module.name.startswith(letter.lower())]
        claims = [import_module(f"{package.__name__}.{name}").CLAIM for name in names]
        found += sorted(claims, key=lambda claim: int(claim.id[1:]))
    return tuple(found)


def find_claims(ids: Iterable[str]) -> tuple[Claim, ...]:
    """Return the claims of these ids, a letter alone standing for its topic; all claims for none, each once.

    Raises:
        UsageError: for an id that there is not, with the nearest right one.
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
                f"there is no claim {given}",
                hint=did_you_mean(name, claims, "`pellucid claims list` lists them."),
            )
    return tuple(chosen.values()) or tuple(claims.values())


def topic_of(claim: Claim) -> str:
    """Return the letter of a claim's topic."""
    return claim.id[0]

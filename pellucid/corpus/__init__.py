"""Text on disk → sentence pairs that know their file and line, checked, cleaned, split and aligned."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.corpus.aligner import fit_lexicon
    from pellucid.corpus.config import DataConfig
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.lexicon import Lexicon
    from pellucid.corpus.pairs import Place, SentencePair
    from pellucid.corpus.reading import read_pairs
    from pellucid.corpus.splitting import HeldOut, hold_out

__all__ = [
    "DataConfig",
    "Examination",
    "HeldOut",
    "Lexicon",
    "Place",
    "SentencePair",
    "examine",
    "fit_lexicon",
    "hold_out",
    "read_pairs",
]

_HOMES = {
    "DataConfig": "config",
    "Examination": "doctor.examination",
    "HeldOut": "splitting",
    "Lexicon": "lexicon",
    "Place": "pairs",
    "SentencePair": "pairs",
    "examine": "doctor.examination",
    "fit_lexicon": "aligner",
    "hold_out": "splitting",
    "read_pairs": "reading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

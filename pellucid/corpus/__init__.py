"""Text on disk → sentence pairs that know their file and line, checked, cleaned, split and aligned."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
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
    },
)

"""Statistical word alignment: IBM model 1 with a diagonal prior, in one direction (a lexicon) or both (an aligner)."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.alignment.aligner import IndexedPairs, WordAligner, WordTranslation, fit_aligner
    from pellucid.alignment.fitting import FitStep, fit_lexicon
    from pellucid.alignment.lexicon import FitReport, Lexicon, Link
    from pellucid.alignment.symmetrisation import Symmetrisation

__all__ = [
    "FitReport",
    "FitStep",
    "IndexedPairs",
    "Lexicon",
    "Link",
    "Symmetrisation",
    "WordAligner",
    "WordTranslation",
    "fit_aligner",
    "fit_lexicon",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "aligner": ["IndexedPairs", "WordAligner", "WordTranslation", "fit_aligner"],
        "fitting": ["FitStep", "fit_lexicon"],
        "lexicon": ["FitReport", "Lexicon", "Link"],
        "symmetrisation": ["Symmetrisation"],
    },
)

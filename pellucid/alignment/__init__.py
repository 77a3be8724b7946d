"""Statistical word alignment: an IBM-2 aligner, its lexicon, and the symmetrisation of two directions."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.alignment.aligner import fit_lexicon
    from pellucid.alignment.lexicon import Lexicon

__all__ = ["Lexicon", "fit_lexicon"]

__getattr__, __dir__ = lazy_names(__name__, {"Lexicon": "lexicon", "fit_lexicon": "aligner"})

"""Text on disk → sentence pairs or documents that know their file and line, checked, cleaned, split and aligned."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.corpus.aligner import fit_lexicon
    from pellucid.corpus.config import DataConfig
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.documents import Document
    from pellucid.corpus.documents_config import DocumentsConfig
    from pellucid.corpus.lexicon import Lexicon
    from pellucid.corpus.pairs import Place, SentencePair
    from pellucid.corpus.reading import read_pairs
    from pellucid.corpus.splitting import HeldOut, hold_out
    from pellucid.corpus.text_examination import TextExamination, examine_text

__all__ = [
    "DataConfig",
    "Document",
    "DocumentsConfig",
    "Examination",
    "HeldOut",
    "Lexicon",
    "Place",
    "SentencePair",
    "TextExamination",
    "examine",
    "examine_text",
    "fit_lexicon",
    "hold_out",
    "read_pairs",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DataConfig": "config",
        "Document": "documents",
        "DocumentsConfig": "documents_config",
        "Examination": "doctor.examination",
        "HeldOut": "splitting",
        "Lexicon": "lexicon",
        "Place": "pairs",
        "SentencePair": "pairs",
        "TextExamination": "text_examination",
        "examine": "doctor.examination",
        "examine_text": "text_examination",
        "fit_lexicon": "aligner",
        "hold_out": "splitting",
        "read_pairs": "reading",
    },
)

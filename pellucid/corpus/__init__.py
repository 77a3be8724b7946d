"""Text on disk → sentence pairs or documents, each with its file and line; checked, cleaned and split."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.corpus.config import DataConfig, DocumentsConfig
    from pellucid.corpus.doctor.document_examination import DocumentExamination, examine_documents
    from pellucid.corpus.doctor.examination import Examination, examine
    from pellucid.corpus.documents import Document
    from pellucid.corpus.pairs import Location, SentencePair
    from pellucid.corpus.reading import read_pairs
    from pellucid.corpus.splitting import HeldOut, hold_out

__all__ = [
    "DataConfig",
    "Document",
    "DocumentExamination",
    "DocumentsConfig",
    "Examination",
    "HeldOut",
    "Location",
    "SentencePair",
    "examine",
    "examine_documents",
    "hold_out",
    "read_pairs",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "config": ["DataConfig", "DocumentsConfig"],
        "doctor.document_examination": ["DocumentExamination", "examine_documents"],
        "doctor.examination": ["Examination", "examine"],
        "documents": ["Document"],
        "pairs": ["Location", "SentencePair"],
        "reading": ["read_pairs"],
        "splitting": ["HeldOut", "hold_out"],
    },
)

"""Word vectors: files of them, and what they can be asked."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pellucid.word2vec.axes import Axis
    from pellucid.word2vec.bias import Association, RelationalScores
    from pellucid.word2vec.files import Format, LoadReport, Oddity
    from pellucid.word2vec.neighbours import Neighbour
    from pellucid.word2vec.time_alignment import Moved, TimeAlignment
    from pellucid.word2vec.vectors import OddVectorsWarning, UnknownWordError, WordVectors
    from pellucid.word2vec.vocabulary import Vocabulary

__all__ = [
    "Association",
    "Axis",
    "Format",
    "LoadReport",
    "Moved",
    "Neighbour",
    "OddVectorsWarning",
    "Oddity",
    "RelationalScores",
    "TimeAlignment",
    "UnknownWordError",
    "Vocabulary",
    "WordVectors",
]

_HOMES = {
    "Association": "bias",
    "Axis": "axes",
    "Format": "files",
    "LoadReport": "files",
    "Moved": "time_alignment",
    "Neighbour": "neighbours",
    "OddVectorsWarning": "vectors",
    "Oddity": "files",
    "RelationalScores": "bias",
    "TimeAlignment": "time_alignment",
    "UnknownWordError": "vectors",
    "Vocabulary": "vocabulary",
    "WordVectors": "vectors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

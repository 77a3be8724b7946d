"""Word vectors: training them, files of them, and what they can be asked."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.word2vec.axes import Axis
    from pellucid.word2vec.bias import Association, RelationalScores
    from pellucid.word2vec.concordance import NeighbourInText, Place
    from pellucid.word2vec.config import VectorsConfig
    from pellucid.word2vec.files import Format, LoadReport, Oddity
    from pellucid.word2vec.neighbours import Neighbour
    from pellucid.word2vec.phrases import Phrase, Phrases, find_phrases
    from pellucid.word2vec.stability import Interval, Stability, StableNeighbour
    from pellucid.word2vec.text import EncodedText, encode_text
    from pellucid.word2vec.time_alignment import Moved, TimeAlignment
    from pellucid.word2vec.training import Training, VectorsStep
    from pellucid.word2vec.vector_map import VectorMap, draw_map, map_page
    from pellucid.word2vec.vectors import OddVectorsWarning, UnknownWordError, WordVectors
    from pellucid.word2vec.vocabulary import Vocabulary

__all__ = [
    "Association",
    "Axis",
    "EncodedText",
    "Format",
    "Interval",
    "LoadReport",
    "Moved",
    "Neighbour",
    "NeighbourInText",
    "OddVectorsWarning",
    "Oddity",
    "Phrase",
    "Phrases",
    "Place",
    "RelationalScores",
    "Stability",
    "StableNeighbour",
    "TimeAlignment",
    "Training",
    "UnknownWordError",
    "VectorMap",
    "VectorsConfig",
    "VectorsStep",
    "Vocabulary",
    "WordVectors",
    "draw_map",
    "encode_text",
    "find_phrases",
    "map_page",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Association": "bias",
        "Axis": "axes",
        "EncodedText": "text",
        "Format": "files",
        "Interval": "stability",
        "LoadReport": "files",
        "Moved": "time_alignment",
        "Neighbour": "neighbours",
        "NeighbourInText": "concordance",
        "OddVectorsWarning": "vectors",
        "Oddity": "files",
        "Phrase": "phrases",
        "Phrases": "phrases",
        "Place": "concordance",
        "RelationalScores": "bias",
        "Stability": "stability",
        "StableNeighbour": "stability",
        "TimeAlignment": "time_alignment",
        "Training": "training",
        "UnknownWordError": "vectors",
        "VectorMap": "vector_map",
        "VectorsConfig": "config",
        "VectorsStep": "training",
        "Vocabulary": "vocabulary",
        "WordVectors": "vectors",
        "draw_map": "vector_map",
        "encode_text": "text",
        "find_phrases": "phrases",
        "map_page": "vector_map",
    },
)

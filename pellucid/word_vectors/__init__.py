"""Word vectors: training them, files of them, and what they can be asked."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.word_vectors.axes import Axis
    from pellucid.word_vectors.bias import RipaScores, WeatResult
    from pellucid.word_vectors.concordance import ConcordanceLine, NeighbourInText
    from pellucid.word_vectors.config import VectorsConfig
    from pellucid.word_vectors.drift import Drift, WordDrift
    from pellucid.word_vectors.encoded_text import EncodedText, encode_text
    from pellucid.word_vectors.files import FileProblem, Format, LoadReport
    from pellucid.word_vectors.neighbours import Neighbour
    from pellucid.word_vectors.phrases import Phrase, Phrases, find_phrases
    from pellucid.word_vectors.stability import BootstrapInterval, Stability, StableNeighbour
    from pellucid.word_vectors.training import VectorsStep, VectorsTraining
    from pellucid.word_vectors.vector_map import VectorMap, build_map, render_map
    from pellucid.word_vectors.vectors import UnknownWordError, VectorFileWarning, WordVectors
    from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = [
    "Axis",
    "BootstrapInterval",
    "ConcordanceLine",
    "Drift",
    "EncodedText",
    "FileProblem",
    "Format",
    "LoadReport",
    "Neighbour",
    "NeighbourInText",
    "Phrase",
    "Phrases",
    "RipaScores",
    "Stability",
    "StableNeighbour",
    "UnknownWordError",
    "VectorFileWarning",
    "VectorMap",
    "VectorsConfig",
    "VectorsStep",
    "VectorsTraining",
    "Vocabulary",
    "WeatResult",
    "WordDrift",
    "WordVectors",
    "build_map",
    "encode_text",
    "find_phrases",
    "render_map",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "WeatResult": "bias",
        "Axis": "axes",
        "EncodedText": "encoded_text",
        "Format": "files",
        "BootstrapInterval": "stability",
        "LoadReport": "files",
        "WordDrift": "drift",
        "Neighbour": "neighbours",
        "NeighbourInText": "concordance",
        "VectorFileWarning": "vectors",
        "FileProblem": "files",
        "Phrase": "phrases",
        "Phrases": "phrases",
        "ConcordanceLine": "concordance",
        "RipaScores": "bias",
        "Stability": "stability",
        "StableNeighbour": "stability",
        "Drift": "drift",
        "VectorsTraining": "training",
        "UnknownWordError": "vectors",
        "VectorMap": "vector_map",
        "VectorsConfig": "config",
        "VectorsStep": "training",
        "Vocabulary": "vocabulary",
        "WordVectors": "vectors",
        "build_map": "vector_map",
        "encode_text": "encoded_text",
        "find_phrases": "phrases",
        "render_map": "vector_map",
    },
)

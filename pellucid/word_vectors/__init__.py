"""Word vectors: data and search, training, files, and analyses that are functions of them.

`pellucid.WordVectors` is what a user holds; its methods call the functions here.
"""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.word_vectors.analogies import rank_by_agreement, solve_analogies
    from pellucid.word_vectors.axes import SemanticAxis, build_axis
    from pellucid.word_vectors.bias import RipaScores, WeatResult, ripa, weat
    from pellucid.word_vectors.concordance import ConcordanceLine, NeighbourInText, find_neighbours_in_text
    from pellucid.word_vectors.config import VectorsConfig
    from pellucid.word_vectors.drift import Drift, WordDrift, measure_drift
    from pellucid.word_vectors.encoded_text import EncodedText, encode_text
    from pellucid.word_vectors.files import FileProblem, Format, LoadReport, read_vectors, write_vectors
    from pellucid.word_vectors.keyed_vectors import KeyedVectors, UnknownWordError
    from pellucid.word_vectors.neighbours import Neighbour
    from pellucid.word_vectors.phrases import Phrase, Phrases, find_phrases
    from pellucid.word_vectors.stability import BootstrapInterval, Stability, StableNeighbour, measure_stability
    from pellucid.word_vectors.train_vectors import train_vectors
    from pellucid.word_vectors.training import VectorsStep, VectorsTraining
    from pellucid.word_vectors.vector_map import VectorMap, build_map, render_map
    from pellucid.word_vectors.vocabulary import Vocabulary

__all__ = [
    "BootstrapInterval",
    "ConcordanceLine",
    "Drift",
    "EncodedText",
    "FileProblem",
    "Format",
    "KeyedVectors",
    "LoadReport",
    "Neighbour",
    "NeighbourInText",
    "Phrase",
    "Phrases",
    "RipaScores",
    "SemanticAxis",
    "Stability",
    "StableNeighbour",
    "UnknownWordError",
    "VectorMap",
    "VectorsConfig",
    "VectorsStep",
    "VectorsTraining",
    "Vocabulary",
    "WeatResult",
    "WordDrift",
    "build_axis",
    "build_map",
    "encode_text",
    "find_neighbours_in_text",
    "find_phrases",
    "measure_drift",
    "measure_stability",
    "rank_by_agreement",
    "read_vectors",
    "render_map",
    "ripa",
    "solve_analogies",
    "train_vectors",
    "weat",
    "write_vectors",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "analogies": ["rank_by_agreement", "solve_analogies"],
        "axes": ["SemanticAxis", "build_axis"],
        "bias": ["RipaScores", "WeatResult", "ripa", "weat"],
        "concordance": ["ConcordanceLine", "NeighbourInText", "find_neighbours_in_text"],
        "config": ["VectorsConfig"],
        "drift": ["Drift", "WordDrift", "measure_drift"],
        "encoded_text": ["EncodedText", "encode_text"],
        "files": ["FileProblem", "Format", "LoadReport", "read_vectors", "write_vectors"],
        "keyed_vectors": ["KeyedVectors", "UnknownWordError"],
        "neighbours": ["Neighbour"],
        "phrases": ["Phrase", "Phrases", "find_phrases"],
        "stability": ["BootstrapInterval", "Stability", "StableNeighbour", "measure_stability"],
        "train_vectors": ["train_vectors"],
        "training": ["VectorsStep", "VectorsTraining"],
        "vector_map": ["VectorMap", "build_map", "render_map"],
        "vocabulary": ["Vocabulary"],
    },
)

"""Files of word vectors: Pellucid's native format, word2vec's two, GloVe's and fastText's."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.word_vectors.files.formats import FORMATS, Format
    from pellucid.word_vectors.files.problems import FileProblem, LoadReport
    from pellucid.word_vectors.files.reading import read_vectors
    from pellucid.word_vectors.files.writing import check_output_path, check_words, format_from_name, write_vectors

__all__ = [
    "FORMATS",
    "FileProblem",
    "Format",
    "LoadReport",
    "check_output_path",
    "check_words",
    "format_from_name",
    "read_vectors",
    "write_vectors",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "formats": ["FORMATS", "Format"],
        "problems": ["FileProblem", "LoadReport"],
        "reading": ["read_vectors"],
        "writing": ["check_output_path", "check_words", "format_from_name", "write_vectors"],
    },
)

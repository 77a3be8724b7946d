"""Pellucid: train word vectors, translators and language models on your own text, and see every number.

The public names are imported on first use: `import pellucid` loads neither PyTorch nor Numba.
"""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.errors import UserError
    from pellucid.generation.generated_text import Generation
    from pellucid.generation.translation import Translation
    from pellucid.loading import load
    from pellucid.training.train_lm import train_lm
    from pellucid.training.train_translator import train_translator
    from pellucid.vectors import WordVectors

__all__ = [
    "Generation",
    "Translation",
    "UserError",
    "WordVectors",
    "__version__",
    "load",
    "train_lm",
    "train_translator",
]

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "errors": ["UserError"],
        "generation.generated_text": ["Generation"],
        "generation.translation": ["Translation"],
        "loading": ["load"],
        "training.train_lm": ["train_lm"],
        "training.train_translator": ["train_translator"],
        "vectors": ["WordVectors"],
    },
)

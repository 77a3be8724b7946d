"""A model folder → a model that can be asked, of whichever kind it is."""

from pathlib import Path
from typing import Any

from pellucid.errors import UsageError
from pellucid.generation.load_language_model import load_language_model
from pellucid.generation.load_translator import load_translator
from pellucid.storage.model_folder import read_config

__all__ = ["load"]


def load(folder: str | Path, *, device: str = "auto", precision: str = "auto") -> Any:
    """Load a model: a Translator, a LanguageModel or WordVectors, as the folder says.

    Args:
        folder: what `pellucid train` or `pellucid import` wrote; of word vectors also a file.
        device: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for weights and arithmetic; auto is float32, in which a neighbour in the batch
            never changes a result. Language models also run in int8.

    Raises:
        UserError: if the folder holds no model, or one that is damaged.
        UsageError: for a device or a precision that does not exist here.
    """
    kind = "vectors" if Path(folder).is_file() else read_config(folder)["kind"]
    if kind == "translator":
        return load_translator(folder, device=device, precision=precision)
    if kind == "language-model":
        return load_language_model(folder, device=device, precision=precision)
    if device not in ("auto", "cpu") or precision not in ("auto", "float32"):
        raise UsageError(
            "word vectors are float32 and stay on the processor", where=str(folder), hint="Leave both options out."
        )
    from pellucid.word2vec.vectors import WordVectors  # compiles: only when asked for

    return WordVectors.load(folder)

"""A path → the model that stands there, whatever its kind."""

from pathlib import Path
from typing import Any

from pellucid.errors import UsageError
from pellucid.storage.model_folder import read_config

__all__ = ["load"]


def load(path: str | Path, *, device: str = "auto", precision: str = "auto") -> Any:
    """Load a model: a Translator, a LanguageModel or WordVectors, as the folder's config.json says.

    Args:
        path: what `pellucid train` or `pellucid import` wrote; of word vectors also a file of another form.
        device: where the model runs: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for weights and arithmetic; auto is float32, in which a neighbour in the batch
            never changes a result. Language models also run in int8.

    Raises:
        UserError: if no model stands there, or one that is damaged.
        UsageError: for a device or a precision that does not exist here, or that word vectors do not have.
    """
    path = Path(path)
    kind = "vectors" if path.is_file() else read_config(path)["kind"]
    if kind == "translator":
        from pellucid.generation.load_translator import load_translator

        return load_translator(path, device=device, precision=precision)
    if kind == "language-model":
        from pellucid.generation.load_language_model import load_language_model

        return load_language_model(path, device=device, precision=precision)
    from pellucid.word_vectors.vectors import WordVectors

    if device not in ("auto", "cpu") or precision not in ("auto", "float32"):
        raise UsageError(
            f"word vectors are on the CPU in float32, not on {device} in {precision}",
            where=str(path),
            hint="Leave device and precision out.",
        )
    return WordVectors.load(path)

"""Load a model of any kind."""

from pathlib import Path
from typing import Any

from pellucid.errors import UsageError
from pellucid.storage.model_folder import read_config

__all__ = ["kind_of", "load"]


def kind_of(path: str | Path) -> str:
    """The kind of a model (a key of `MODEL_KINDS`) as its config.json says; a file holds word vectors.

    Raises:
        UserError: if there is no model.
    """
    return "vectors" if Path(path).is_file() else str(read_config(path)["kind"])


def load(path: str | Path, *, device: str = "auto", precision: str = "auto") -> Any:
    """Load a model: a `Translator`, a `LanguageModel` or `WordVectors`, depending on the folder's config.json.

    Args:
        path: a folder written by `pellucid train` or `pellucid import`; for word vectors also a file in another format.
        device: where the model runs: auto (CUDA if available), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for weights and arithmetic; auto is float32, in which a result never depends on
            the others in its batch. Language models also run in int8.

    Raises:
        UserError: if there is no model, or a damaged one.
        UsageError: for a device or precision that is not available, or that word vectors do not have.
    """
    path = Path(path)
    kind = kind_of(path)
    if kind == "translator":
        from pellucid.translator import Translator

        return Translator.load(path, device=device, precision=precision)
    if kind == "language-model":
        from pellucid.language_model import LanguageModel

        return LanguageModel.load(path, device=device, precision=precision)
    from pellucid.vectors import WordVectors

    if device not in ("auto", "cpu") or precision not in ("auto", "float32"):
        raise UsageError(
            f"word vectors are on the CPU in float32, not on {device} in {precision}",
            where=str(path),
            hint="Leave device and precision out.",
        )
    return WordVectors.load(path)

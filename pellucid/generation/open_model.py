"""A path → the model that stands there, whatever its kind."""

from pathlib import Path
from typing import Any

from pellucid.errors import UsageError, UserError
from pellucid.storage.model_folder import KINDS, read_config

__all__ = ["load"]


def load(path: str | Path, *, device: str = "auto", precision: str = "auto") -> Any:
    """Load a model: a `Translator` that translates, or `WordVectors`, as the folder's config.json says.

    Args:
        path: what `pellucid train` wrote; of word vectors also a file of another form.
        device: where a translator runs: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for a translator's weights and arithmetic; auto is float32, in which a neighbour
            in the batch never changes a translation.

    Raises:
        UserError: if no model stands there, or one that is damaged or cannot be loaded.
        UsageError: for a device or a precision that does not exist here, or that word vectors do not have.
    """
    path = Path(path)
    kind = "vectors" if path.is_file() else read_config(path)["kind"]
    if kind == "translator":
        from pellucid.generation.load import load_translator

        return load_translator(path, device=device, precision=precision)
    if kind == "vectors":
        from pellucid.word2vec.vectors import WordVectors

        if device not in ("auto", "cpu") or precision not in ("auto", "float32"):
            raise UsageError(
                f"word vectors are on the CPU in float32, not on {device} in {precision}",
                where=str(path),
                hint="Leave device and precision out.",
            )
        return WordVectors.load(path)
    raise UserError(
        f"{path} holds {KINDS[kind]}, and this version loads translators and word vectors",
        where=str(path / "config.json"),
        hint="Name another folder, or install a newer version: `pip install --upgrade pellucid`.",
    )

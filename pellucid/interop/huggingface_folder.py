"""Hugging Face folders: config.json, safetensors in one file or several, tokenizer.json, a chat template."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from pellucid.errors import UserError
from pellucid.interop.foreign_model import ForeignModel, ForeignTokenizer
from pellucid.interop.huggingface_config import read_huggingface_config
from pellucid.storage.model_folder import read_json
from pellucid.storage.tensors import read_shapes
from pellucid.tokenizers.chat_template import CHAT_TEMPLATE_FILE
from pellucid.tokenizers.imported import SpecialIds, prepends_id, validate_tokenizer

__all__ = ["read_huggingface_folder"]


def read_huggingface_folder(folder: Path) -> ForeignModel:
    """Read a Hugging Face folder; weights are read on demand.

    Raises:
        UserError: if it is no such folder, a file of it is missing or damaged, or its model is of an unknown kind.
    """
    config = read_json(folder / "config.json")
    shape = read_huggingface_config(config, str(folder / "config.json"))
    files = _weight_files(folder)
    tensors: dict[str, Any] = {}
    formats: Counter[str] = Counter()
    for file in files:
        for name, tensor in read_shapes(file).items():
            # GPT-2's first files leave the prefix out.
            full = f"transformer.{name}" if name.startswith(("wte.", "wpe.", "h.", "ln_f.")) else name
            tensors[full] = partial(_read, file, name)
            formats[tensor.dtype] += tensor.size
    precision = formats.most_common(1)[0][0] if formats else ""
    return ForeignModel(folder.resolve().name, precision, shape, tensors, _text(folder, config))


def _read(file: Path, name: str) -> Tensor:
    try:
        with safe_open(file, framework="pt") as weights:
            tensor: Tensor = weights.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise UserError(f"{file.name} is damaged: {error}", where=str(file), hint="Copy the file again.") from error
    return tensor if tensor.is_floating_point() else tensor.float()


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        parts = read_json(index).get("weight_map")
        if not isinstance(parts, Mapping) or not parts:
            raise UserError("the index has no weight_map", where=str(index), hint="Copy the folder again.")
        names = [name for name in parts.values() if isinstance(name, str)]
        if len(names) < len(parts):
            raise UserError(
                "the weight_map of the index holds something that is no name of a file",
                where=str(index),
                hint="Copy the folder again.",
            )
        if outside := [name for name in names if name in ("", "..") or Path(name).name != name]:
            raise UserError(
                f"the index names a file outside the folder: {outside[0]!r}",
                where=str(index),
                hint="All files of a model stand beside its index; get the folder from where you trust it.",
            )
        files = [folder / name for name in dict.fromkeys(names)]
        if missing := [file.name for file in files if not file.is_file()]:
            raise UserError(
                f"{missing[0]} is missing, one of the {len(files)} files of weights",
                where=[str(folder / missing[0]), str(index)],
                hint="Download the folder again, all files included.",
            )
        return files
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    if pickled := sorted(path.name for path in folder.glob("*.bin")):
        raise UserError(
            f"the weights are there only as a pickle, {pickled[0]}, which may run any program when it is read",
            where=str(folder),
            hint="Have whoever trusts it write safetensors: "
            "`AutoModelForCausalLM.from_pretrained(folder).save_pretrained(out, safe_serialization=True)`.",
        )
    raise UserError(
        f"{folder} has no model.safetensors", where=str(folder), hint="Download the folder again, weights included."
    )


def _text(folder: Path, config: Mapping[str, Any]) -> ForeignTokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise UserError(
            f"{folder} has no tokenizer.json",
            where=str(path),
            hint="Write it with `AutoTokenizer.from_pretrained(folder).save_pretrained(folder)` of transformers.",
        )
    content = read_json(path)
    validate_tokenizer(content)
    settings = _read_if_there(folder / "tokenizer_config.json")
    generation = _read_if_there(folder / "generation_config.json")
    numbers = {str(token["content"]): int(token["id"]) for token in content.get("added_tokens", ())}
    starts = [_id_of(settings.get("bos_token"), numbers), *_ids(config.get("bos_token_id"))]
    start = next((number for number in starts if number is not None), None)
    ends = [
        *_ids(generation.get("eos_token_id")),
        *_ids(_id_of(settings.get("eos_token"), numbers)),
        *_ids(config.get("eos_token_id")),
    ]
    special = SpecialIds(start, tuple(dict.fromkeys(ends)), start is not None and prepends_id(content, start))
    return ForeignTokenizer(content, special, _chat_template(folder, settings))


def _chat_template(folder: Path, settings: Mapping[str, Any]) -> str | None:
    path = folder / CHAT_TEMPLATE_FILE
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"cannot read {CHAT_TEMPLATE_FILE}: {error}", where=str(path), hint="Copy the file again, or remove it."
            ) from error
    template = settings.get("chat_template")
    if isinstance(template, list):  # several, for tools and retrieval; the plain one is called default
        named = {one.get("name"): one.get("template") for one in template if isinstance(one, Mapping)}
        template = named.get("default")
    return template if isinstance(template, str) else None


def _read_if_there(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _id_of(token: Any, numbers: Mapping[str, int]) -> int | None:
    """Look up the id of a token given as text or as an object with `content`."""
    text = token.get("content") if isinstance(token, Mapping) else token
    return numbers.get(text) if isinstance(text, str) else None


def _ids(value: Any) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return [number for number in values if isinstance(number, int) and not isinstance(number, bool)]

"""Convert a GGUF file or a Hugging Face folder to a model folder of Pellucid."""

from dataclasses import dataclass
from pathlib import Path

from pellucid.errors import UserError
from pellucid.interop.foreign_model import ForeignModel, convert_weights
from pellucid.interop.gguf_file import MAGIC, read_gguf
from pellucid.interop.huggingface_folder import read_huggingface_folder
from pellucid.storage.files import atomic_folder, write_text
from pellucid.storage.model_folder import check_output, contains_model, write_config, write_json
from pellucid.storage.tensors import write_tensors
from pellucid.tokenizers.chat_template import CHAT_TEMPLATE_FILE, ChatTemplate
from pellucid.tokenizers.imported import ImportedTokenizer, SpecialIds

__all__ = ["ImportedModel", "import_model"]


@dataclass(frozen=True)
class ImportedModel:
    """A summary of an imported model.

    Attributes:
        name: what the model calls itself.
        architecture: the family it is of.
        parameters: numbers in all; a tied matrix counts once.
        vocab_size: ids.
        context: tokens that are read at once.
        chat: whether it came with a chat template.
        warnings: what the user should know.
    """

    name: str
    architecture: str
    parameters: int
    vocab_size: int
    context: int
    chat: bool
    warnings: tuple[str, ...]


def import_model(source: str | Path, output: str | Path, *, overwrite: bool = False) -> ImportedModel:
    """Convert a model of another program to a model folder, atomically.

    Weights of 16 bits stay so; packed ones become float32.

    Args:
        source: a GGUF file, or a folder in Hugging Face's form.
        overwrite: whether a model that stands there may be replaced.

    Raises:
        UserError: if the source is missing, damaged, of an unknown kind, or has a tensor or setting that is not known.
    """
    source, output = Path(source), Path(output)
    if contains_model(output) and not overwrite:
        raise UserError(
            f"{output} holds a model already",
            where=str(output),
            hint="Add `--overwrite` to replace it, or name another folder.",
        )
    check_output(output, resume=False, overwrite=overwrite)
    model = _read(source)
    try:
        return _written(model, output, overwrite)
    except UserError as error:
        names_file = any(place.startswith(str(source)) for place in error.where)
        where = error.where if names_file else (str(source), *error.where)
        raise UserError(error.what, where=where, hint=error.hint) from error


def _read(source: Path) -> ForeignModel:
    if source.is_dir():
        if not (source / "config.json").is_file():
            raise UserError(
                f"{source} holds no model in Hugging Face's form: config.json is missing",
                where=str(source),
                hint="Name a folder with config.json, model.safetensors and tokenizer.json, or a GGUF file.",
            )
        return read_huggingface_folder(source)
    if not source.is_file():
        raise UserError(f"there is no {source}", where=str(source), hint="Name a GGUF file, or a Hugging Face folder.")
    with source.open("rb") as file:
        if file.read(4) != MAGIC:
            raise UserError(
                f"{source.name} is no GGUF file",
                where=str(source),
                hint="Of Hugging Face's form name the folder, not a file in it.",
            )
    return read_gguf(source)


def _written(model: ForeignModel, output: Path, overwrite: bool) -> ImportedModel:
    shape, text = model.shape, model.text
    special, unknown = _known_ids(text.special, shape.vocab_size)
    tokenizer = ImportedTokenizer(text.content, special, shape.vocab_size)
    if text.chat_template is not None:
        ChatTemplate(text.chat_template, tokenizer)  # refuses what is no template
    with atomic_folder(output, replace=overwrite) as folder:
        weights = dict(convert_weights(shape, model.tensors))
        write_tensors(folder / "model.safetensors", weights)
        tokenizer.save(folder / "tokenizer.json")
        if text.chat_template is not None:
            write_text(folder / CHAT_TEMPLATE_FILE, text.chat_template)
        imported = {"name": model.name, "architecture": shape.architecture, "precision": model.precision}
        write_json(folder / "report.json", {"imported": imported})
        fields = {
            "model": shape.config.model_dump(mode="json"),
            "vocab_size": shape.vocab_size,
            "pad_id": None,  # every id is a token
            "tokenizer": special._asdict(),
        }
        write_config(folder, "language-model", fields)
    return ImportedModel(
        model.name,
        shape.architecture,
        sum(weight.numel() for weight in weights.values()),
        shape.vocab_size,
        shape.config.max_positions,
        text.chat_template is not None,
        (*shape.warnings, *text.warnings, *unknown),
    )


def _known_ids(special: SpecialIds, vocab_size: int) -> tuple[SpecialIds, list[str]]:
    """Select the special ids that the model has, with a warning for each one that it lacks."""
    start, ends = special.start_id, special.end_ids
    unknown = [n for n in dict.fromkeys((*ends, *([] if start is None else [start]))) if not 0 <= n < vocab_size]
    known = SpecialIds(
        None if start in unknown else start,
        tuple(number for number in ends if number not in unknown),
        special.adds_start and start not in unknown,
    )
    warnings = [
        f"its files name {number} as an id that starts or ends a text; there is none, and it is left out"
        for number in unknown
    ]
    return known, warnings

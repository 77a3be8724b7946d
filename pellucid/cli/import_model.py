"""`pellucid import`: another program's language model as a model folder."""

from pathlib import Path

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, JsonSwitch, Switch

__all__ = ["import_model"]


def import_model(
    source: Path,
    output: Path,
    /,
    *,
    overwrite: Switch = False,
    as_json: JsonSwitch = False,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Convert a GGUF file or a Hugging Face folder to a model folder.

    GPT-2, Llama, Mistral, Qwen2, Qwen3 and SmolLM can be read, with their tokenizer and chat template. Unknown
    settings and tensors are rejected by name; no pickle is ever read.

    Args:
        source: A GGUF file, or a folder with config.json, safetensors and tokenizer.json.
        output: The folder to write.
        overwrite: Replace an existing model.
        as_json: Print one JSON object with the keys folder, name, architecture, parameters, vocab_size, context, chat,
            warnings.
    """
    from pellucid.interop.import_model import import_model as read

    imported = read(source, output, overwrite=overwrite)
    for warning in imported.warnings:
        console.warn(warning)
    if as_json:
        console.data_json({"folder": str(output), **vars(imported), "warnings": list(imported.warnings)})
        return
    console.log(
        f"{imported.name}: {imported.architecture}, {imported.parameters / 1e6:,.1f} million parameters, "
        f"{imported.vocab_size:,} ids, context {imported.context:,} tokens"
    )
    use = "chat with" if imported.chat else "continue a text with"
    command = f"pellucid chat {output}" if imported.chat else f'pellucid generate {output} "…"'
    console.log(f"Written to {output}; {use} it: `{command}`")

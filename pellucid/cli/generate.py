"""`pellucid generate`: text from a prompt."""

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from pydantic import BaseModel

from pellucid.cli import console
from pellucid.cli.config_flags import flags_of, given_fields
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags, Switch, TextArgument
from pellucid.cli.inputs import is_interactive, text_lines
from pellucid.errors import UsageError
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.generation.generated_text import Generation
    from pellucid.language_model import LanguageModel

__all__ = ["SamplingFlags", "generate"]

if TYPE_CHECKING:
    SamplingFlags = BaseModel | None
else:
    SamplingFlags = flags_of(
        SamplingConfig,
        "SamplingFlags",
        leave_out=("samples", "alternatives"),
        tokens=Parameter(name=["--tokens", "-n"]),
        stop=Parameter(negative=""),
        sliding=Parameter(negative=""),
    )

_CHUNK = 256  # prompts of a file in memory at once


def generate(
    folder: Path,
    /,
    *prompts: Annotated[TextArgument[str], Parameter(name="prompt")],
    file: TextArgument[str | None] = None,
    samples: int | None = None,
    alternatives: int | None = None,
    stream: Switch = False,
    as_json: JsonSwitch = False,
    sampling: SamplingFlags = None,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Generate text from a prompt.

    Prints what the model writes, without the prompt. The reason why the text ended (end, stop, length or context), the
    seed and warnings go to stderr. The model's own settings (generation_config.json) apply unless a flag overrides
    them.

    Args:
        folder: Folder of the model.
        prompts: The prompt; none begins a new text, - reads standard input to its end.
        file: Read one prompt per line from a file instead, - for standard input, and print one line for each; line
            ends within a text become spaces.
        samples: Number of independent continuations of each prompt.
        alternatives: With --json, report this many of the most probable tokens beside each sampled one.
        stream: Print the text while it is generated.
        as_json: Print one JSON object per prompt: prompt, prompt_tokens, seed, text, finish_reason, stop, log_prob,
            warnings and tokens, each with id, text, log_prob (the model's) and sampling_log_prob (null if the token
            could not be sampled); several samples are in samples. With --stream, an object with text for each part
            comes first.
        sampling: How to sample.
    """
    prompt = _prompt(prompts, file)
    settings = given_fields(sampling) | {"samples": samples, "alternatives": alternatives}
    if stream and file is not None:
        raise UsageError(
            "--stream cannot be combined with --file",
            where="pellucid generate",
            hint="Leave --stream out, or give one prompt as an argument.",
        )
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    _note_prompt_ending(model, prompt, file)
    if file is not None:
        _each_line(model, file, settings, as_json)
    elif stream:
        _streamed(model, prompt, settings, as_json)
    else:
        with console.progress("Generating", unit="tokens") as bar:
            found = model.generate(prompt, on_progress=bar.advance, **settings)
        _print(found, as_json)
        _report(found)


def _report(found: "Generation") -> None:
    """Print why each sample ended, and its warnings."""
    for number, sample in enumerate(found.samples, 1):
        place = f"sample {number}: " if len(found.samples) > 1 else ""
        console.log(f"{place}{pluralize(len(sample.tokens), 'token')}, {sample.finish_reason}, seed {found.seed}")
        for warning in sample.warnings:
            console.warn(f"{place}{warning.message}")


def _prompt(prompts: tuple[str, ...], file: str | None) -> str:
    """Choose the prompt. All arguments arrive here, even `-`, which otherwise counts as an option."""
    for name in prompts:
        if name.startswith("--"):
            hint = "See `pellucid generate --help` for the options; pass a prompt that begins with -- through `-`."
            raise UsageError(f"unknown option {name}", where="pellucid generate", hint=hint)
    if len(prompts) > 1:
        hint = "Put the prompt in quotation marks, or several in a file, one per line: --file prompts.txt."
        raise UsageError(f"expected one prompt, got {len(prompts)}", where="pellucid generate", hint=hint)
    if prompts and file is not None:
        raise UsageError(
            "--file cannot be combined with a prompt", where="pellucid generate", hint="Give only one of the two."
        )
    if prompts != ("-",):
        return prompts[0] if prompts else ""
    if is_interactive("-"):
        console.log("Type the prompt; Ctrl-D ends it.")
    return "\n".join(text_lines("-"))


def _note_prompt_ending(model: "LanguageModel", prompt: str, file: str | None) -> None:
    """Point out what a shell easily drops: the line end or spaces that end all prompts the model was trained on."""
    from pellucid.generation.text_model import PromptOnlyConversation

    ending = model.conversation.ending if isinstance(model.conversation, PromptOnlyConversation) else ""
    if ending and (file is not None or (prompt and not prompt.endswith(ending))):
        subject = "the lines of this file do" if file is not None else "this prompt does"
        console.log(
            f"The prompts that this model was trained on end with {json.dumps(ending)}, but {subject} not. "
            "`pellucid chat` adds it."
        )


def _streamed(model: "LanguageModel", prompt: str, settings: dict[str, Any], as_json: bool) -> None:
    stream = model.stream(prompt, **settings)
    for text in stream:
        if as_json:
            console.data_json({"text": text})
        else:
            console.data_part(text)
    assert stream.generation is not None
    if as_json:
        console.data_json(stream.generation.as_dict())
    else:
        console.data("")
    _report(stream.generation)


def _print(found: "Generation", as_json: bool) -> None:
    if as_json:
        console.data_json(found.as_dict())
        return
    for number, sample in enumerate(found.samples, 1):
        if len(found.samples) > 1:
            console.data(f"--- {number}")
        console.data(sample.text)


def _each_line(model: "LanguageModel", file: str, settings: dict[str, Any], as_json: bool) -> None:
    lines = text_lines(file)
    number = 0
    with console.progress("Generating", unit="tokens") as bar:
        while chunk := list(islice(lines, _CHUNK)):
            for found in model.generate(chunk, on_progress=bar.advance, **settings):
                number += 1
                if as_json:
                    console.data_json({"line": number, **found.as_dict()})
                else:
                    for sample in found.samples:
                        console.data(" ".join(sample.text.splitlines()))
                for sample in found.samples:
                    for warning in sample.warnings:
                        console.warn(f"line {number:,}: {warning.message}")

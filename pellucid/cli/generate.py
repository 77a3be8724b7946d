"""`pellucid generate`: let a language model go on with a text."""

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.sampling_flags import DEFAULT_SAMPLING, SamplingFlags
from pellucid.cli.text_lines import is_interactive, text_lines
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.generation.generated_text import Generation
    from pellucid.language_model import LanguageModel

__all__ = ["generate", "report"]

_CHUNK = 256  # prompts of a file in memory at once


def generate(
    folder: Path,
    /,
    *prompts: Annotated[str, Parameter(name="prompt", allow_leading_hyphen=True)],
    file: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    samples: int | None = None,
    alternatives: int | None = None,
    stream: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    sampling: SamplingFlags = DEFAULT_SAMPLING,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Let a language model go on with a text, and print what it writes, without the prompt.

    Why the text ended (end: the model ended it, stop, length, context), the seed and warnings go to stderr.

    Args:
        folder: Folder of the model.
        prompts: The text to go on with; none begins a new text, - reads standard input to its end.
        file: A file with a prompt a line instead, - for standard input; a line
            is printed for each, line ends within become spaces.
        samples: Continuations of each prompt, each drawn for itself.
        alternatives: With --json: so many of the most probable tokens beside each one drawn.
        stream: Print the text as it comes: whole characters, and nothing that is taken back.
        as_json: Print one JSON object a prompt: prompt, prompt_tokens, seed, text, finish, stop, log_prob, warnings and
            tokens, each with id, text, log_prob (the model's) and sampling_log_prob (as drawn, null if it could not
            be); with several samples these stand in samples. With --stream an object with text for each part first.
    """
    prompt = _prompt(prompts, file)
    settings = sampling.settings() | {"samples": samples, "alternatives": alternatives}
    if stream and file is not None:
        raise UsageError(
            "--stream and --file exclude each other",
            where="pellucid generate",
            hint="Leave --stream out, or give one prompt as an argument.",
        )
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    _tell_of_ending(model, prompt, file)
    if file is not None:
        _each_line(model, file, settings, as_json)
    elif stream:
        _streamed(model, prompt, settings, as_json)
    else:
        with console.progress("Generating", unit="tokens") as bar:
            found = model.generate(prompt, on_progress=bar.advance, **settings)
        _print(found, as_json)
        report(found)


def report(found: "Generation") -> None:
    """Say why each sample ended, and what its reader should know."""
    for number, sample in enumerate(found.samples, 1):
        place = f"sample {number}: " if len(found.samples) > 1 else ""
        console.log(f"{place}{pluralize(len(sample.tokens), 'token')}, {sample.finish_reason}, seed {found.seed}")
        for notice in sample.warnings:
            console.warn(f"{place}{notice.message}")


def _prompt(prompts: tuple[str, ...], file: str | None) -> str:
    """Return the prompt. All arguments come here, also such as `-`, which otherwise counts as an option."""
    for name in prompts:
        if name.startswith("--"):
            hint = "`pellucid generate --help` lists what there is; a prompt that begins so can come through `-`."
            raise UsageError(f"unknown option {name}", where="pellucid generate", hint=hint)
    if len(prompts) > 1:
        hint = "Put the prompt in quotation marks, or several in a file, one per line: --file prompts.txt."
        raise UsageError(f"expected one prompt, got {len(prompts)}", where="pellucid generate", hint=hint)
    if prompts and file is not None:
        raise UsageError(
            "--file and a prompt exclude each other", where="pellucid generate", hint="Give only one of the two."
        )
    if prompts != ("-",):
        return prompts[0] if prompts else ""
    if is_interactive("-"):
        console.log("Type the prompt; Ctrl-D ends it.")
    return "\n".join(text_lines("-"))


def _tell_of_ending(model: "LanguageModel", prompt: str, file: str | None) -> None:
    """Say what a shell easily loses: that the prompts which the model learnt all ended in a line end, or in spaces."""
    from pellucid.generation.conversation import PromptOnlyConversation

    ending = model.conversation.ending if isinstance(model.conversation, PromptOnlyConversation) else ""
    if ending and (file is not None or (prompt and not prompt.endswith(ending))):
        console.log(
            f"The prompts that this model learnt end with {json.dumps(ending)}, "
            f"{'lines of a file' if file is not None else 'this one'} not; `pellucid chat` puts it there"
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
    report(stream.generation)


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
                    for notice in sample.warnings:
                        console.warn(f"line {number:,}: {notice.message}")

"""`pellucid chat`: a conversation with an instruction-tuned model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.config_flags import given_fields
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.generate import SamplingFlags
from pellucid.cli.inputs import is_interactive, text_lines
from pellucid.errors import UserError
from pellucid.randomness import derive_seed

if TYPE_CHECKING:
    from pellucid.language_model import LanguageModel

__all__ = ["chat"]

_NEW = "/new"


def chat(
    folder: Path,
    /,
    *,
    system: str = "",
    sampling: SamplingFlags = None,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Chat with an instruction-tuned model.

    Each line of the input is a message; the answer is printed while it is generated. Ctrl-D ends the chat, /new starts
    another conversation. An imported model sees the whole conversation, formatted by its chat template; when it grows
    longer than the context, the oldest exchange is dropped with a warning. A model trained here on prompts and
    completions sees each line by itself. Lines may also be piped in.

    Args:
        folder: Folder of the model.
        system: System message at the beginning of the conversation.
        sampling: How to sample.
    """
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    model.require_conversation()
    head = [{"role": "system", "content": system}] if system else []
    messages = list(head)
    interactive = is_interactive(None)
    if interactive:
        console.log(f"Ctrl-D ends, {_NEW} starts another conversation.")
    console.prompt("> ")
    for turn, line in enumerate(text_lines(None)):
        if line.strip() == _NEW:
            messages = list(head)
        elif line.strip():
            messages.append({"role": "user", "content": line})
            settings = given_fields(sampling)
            if "seed" in settings:  # every turn samples differently
                settings["seed"] = derive_seed(settings["seed"], "turn", turn)
            try:
                messages = _answer(model, messages, len(head), settings)
            except UserError as error:
                if not interactive:
                    raise
                console.error(error)
                messages.pop()
        console.prompt("> ")
    if interactive:
        console.log()


def _answer(
    model: "LanguageModel", messages: list[dict[str, str]], kept: int, settings: dict[str, Any]
) -> list[dict[str, str]]:
    """Print the answer to the last message; return the conversation with it, as far as it fits the context."""
    while not model.has_room(messages, **settings) and len(messages) > kept + 2:
        messages = messages[:kept] + messages[kept + 2 :]
        console.warn("the conversation is longer than the context: its oldest exchange is dropped")
    stream = model.chat_stream(messages, **settings)
    for text in stream:
        console.data_part(text)
    console.data("")
    assert stream.generation is not None
    for warning in stream.generation.warnings:
        console.warn(warning.message)
    return [*messages, {"role": "assistant", "content": stream.generation.text}]

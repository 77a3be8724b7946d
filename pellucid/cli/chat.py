"""`pellucid chat`: talk to a model that has been taught to converse."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.sampling_flags import DEFAULT_SAMPLING, SamplingFlags
from pellucid.cli.text_lines import is_interactive, text_lines
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
    sampling: SamplingFlags = DEFAULT_SAMPLING,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Talk to a model: a line is what you say, the answer comes as it is written. Ctrl-D ends, /new begins anew.

    An imported model sees the whole conversation, as its chat template writes it. When that becomes longer than the
    context, the oldest exchange is left out, and this is said. A model trained here on prompts and completions sees
    each line by itself. Lines may also come through a pipe.

    Args:
        folder: Folder of the model.
        system: What the model is told before the conversation.
    """
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    model.require_conversation()
    head = [{"role": "system", "content": system}] if system else []
    messages = list(head)
    interactive = is_interactive(None)
    if interactive:
        console.log(f"Ctrl-D ends, {_NEW} begins anew.")
    console.prompt("> ")
    for turn, line in enumerate(text_lines(None)):
        if line.strip() == _NEW:
            messages = list(head)
        elif line.strip():
            messages.append({"role": "user", "content": line})
            settings = sampling.settings()
            if sampling.seed is not None:  # the same draws at every turn would be no draws
                settings["seed"] = derive_seed(sampling.seed, "turn", turn)
            try:
                messages = _answered(model, messages, len(head), settings)
            except UserError as mistake:
                if not interactive:
                    raise
                console.error(mistake)
                messages.pop()
        console.prompt("> ")
    if interactive:
        console.log()


def _answered(
    model: "LanguageModel", messages: list[dict[str, str]], kept: int, settings: dict[str, Any]
) -> list[dict[str, str]]:
    """Print the answer to the last message; return the conversation with it, as far as the model still sees it."""
    while not model.has_room(messages, **settings) and len(messages) > kept + 2:
        messages = messages[:kept] + messages[kept + 2 :]
        console.warn("the conversation is longer than the context: its oldest exchange is left out from now on")
    stream = model.chat_stream(messages, **settings)
    for text in stream:
        console.data_part(text)
    console.data("")
    assert stream.generation is not None
    for notice in stream.generation.warnings:
        console.warn(notice.message)
    return [*messages, {"role": "assistant", "content": stream.generation.text}]

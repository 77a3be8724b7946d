"""Chat templates: the format in which an instruction-tuned model expects a conversation.

A template is a small Jinja program that comes with the model. It runs in Jinja's sandbox, and special tokens spelled in
messages are replaced first, so that nobody can insert a special token into the conversation by spelling it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.exceptions import TemplateSyntaxError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pellucid.errors import UserError
from pellucid.tokenizers.imported import ImportedTokenizer

__all__ = ["CHAT_TEMPLATE_FILE", "ChatTemplate", "load_chat_template"]

CHAT_TEMPLATE_FILE = "chat_template.jinja"
"""The template's file in a model folder."""

_FIRST_SUBSTITUTE = 0xF0000  # in plane 15, private use


class ChatTemplate:
    """A model's template for conversations.

    Args:
        tokenizer: the model's tokenizer, whose special tokens the template writes.

    Raises:
        UserError: if the template is not valid Jinja.
    """

    def __init__(self, source: str, tokenizer: ImportedTokenizer) -> None:
        self.source = source
        self._tokenizer = tokenizer
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.globals["raise_exception"] = _raise_exception
        environment.filters["tojson"] = _as_json
        try:
            self._template = environment.from_string(source)
        except TemplateSyntaxError as error:
            raise UserError(
                f"the chat template is not valid Jinja: {error.message}",
                where=f"line {error.lineno}",
                hint="Import the model again from an intact copy.",
            ) from error

    def encode(self, messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool = True) -> list[int]:
        """Encode a conversation, with special tokens exactly where the template puts them.

        Args:
            messages: each with `role` (system, user, assistant) and `content`.
            add_generation_prompt: whether the text ends where the assistant's next answer begins.

        Raises:
            UserError: for malformed messages, or messages that the template rejects.
        """
        substitutes = self._substitutes(messages)
        marked = [{**message, "content": _marked(message["content"], substitutes)} for message in messages]
        meanings = {substitute: spelling for spelling, substitute in substitutes.items()}
        ids = self._tokenizer.encode_rendered(self._rendered(marked, add_generation_prompt), meanings)
        if not ids:
            raise _template_error("produces no text for these messages")
        return ids

    def render(self, messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool = True) -> str:
        """Render a conversation with special tokens spelled out, for people to read.

        Raises:
            UserError: for malformed messages, or messages that the template rejects.
        """
        _check(messages)
        return self._rendered(messages, add_generation_prompt)

    def _rendered(self, messages: Sequence[Mapping[str, str]], add_generation_prompt: bool) -> str:
        try:
            return self._template.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=add_generation_prompt,
                bos_token=self._tokenizer.spelling(self._tokenizer.start_id),
                eos_token=self._tokenizer.spelling(self._tokenizer.end_id),
            )
        except RecursionError as error:
            raise _template_error("recurses without end") from error
        except MemoryError as error:
            raise _template_error("needs more memory than available") from error
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise UserError(
                f"the chat template rejects these messages: {error}",
                where=CHAT_TEMPLATE_FILE,
                hint="Most templates expect `user` and `assistant` in turn, `user` first, after at most one `system`.",
            ) from error

    def _substitutes(self, messages: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """Choose an unused character for each special token that is spelled in a message."""
        said = _check(messages)
        spelt = [spelling for spelling in self._tokenizer.special_spellings if spelling in said]
        free = _unused(said + self.source)
        return {spelling: next(free) for spelling in sorted(spelt, key=len, reverse=True)}


def load_chat_template(folder: str | Path, tokenizer: ImportedTokenizer) -> ChatTemplate | None:
    """Read the chat template of a model folder; None if the model has none.

    Raises:
        UserError: if it cannot be read or is not valid Jinja.
    """
    path = Path(folder) / CHAT_TEMPLATE_FILE
    if not path.is_file():
        return None
    try:
        return ChatTemplate(path.read_text(encoding="utf-8"), tokenizer)
    except UserError as error:
        where = [f"{path}:{place.removeprefix('line ')}" for place in error.where]
        raise UserError(error.what, where=where, hint=error.hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", where=str(path), hint="Import the model again.") from error


def _template_error(what: str) -> UserError:
    return UserError(
        f"the chat template {what}",
        where=CHAT_TEMPLATE_FILE,
        hint="Get the model from a source you trust: its template is damaged or malicious.",
    )


def _check(messages: Sequence[object]) -> str:
    """Check that every message has a role and a content, and join all contents."""
    said: list[str] = []
    for number, message in enumerate(messages):
        fields = message if isinstance(message, Mapping) else {}
        role, content = fields.get("role"), fields.get("content")
        if not isinstance(role, str) or not isinstance(content, str):
            raise UserError(
                f"message {number + 1} lacks a role or a content",
                where=f"messages[{number}]",
                hint='Write messages as {"role": "user", "content": "…"}.',
            )
        said.append(content)
    return "".join(said)


def _unused(text: str) -> Iterator[str]:
    return (chr(code) for code in range(_FIRST_SUBSTITUTE, _FIRST_SUBSTITUTE + 0xFFFE) if chr(code) not in text)


def _marked(text: str, substitutes: Mapping[str, str]) -> str:
    for spelling, substitute in substitutes.items():
        text = text.replace(spelling, substitute)
    return text


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)

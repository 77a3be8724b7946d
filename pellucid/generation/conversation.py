"""Conversations: how messages are formatted for a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pellucid.errors import UserError

__all__ = ["Conversation", "Message", "PromptOnlyConversation"]

Message = Mapping[str, str]
"""A message: `role` (system, user, assistant) and `content`."""


class Conversation(Protocol):
    """Formats messages as the model was trained to read them, such as a `ChatTemplate`."""

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Encode a conversation up to where the next answer begins.

        Raises:
            UserError: for malformed messages, or messages that the model does not accept.
        """


class PromptOnlyConversation:
    """The conversation of a model trained on prompts and completions: it sees only the last message.

    Args:
        prompt_ids: encodes a prompt.
        ending: line ends or spaces that every prompt ended with in training; appended to the message.
    """

    def __init__(self, prompt_ids: Callable[[str], list[int]], ending: str = "") -> None:
        self._prompt_ids = prompt_ids
        self.ending = ending

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Encode the last message.

        Raises:
            UserError: if the last message is not the user's, or there is a system message.
        """
        roles = [message.get("role") for message in messages]
        if not roles or roles[-1] != "user":
            raise UserError(
                "expected a user message at the end", where="messages", hint="End with a message of role user."
            )
        if "system" in roles:
            raise UserError(
                "the model was trained on single prompts and takes no system message",
                where="messages",
                hint="Leave the system message out, or put it into the prompt.",
            )
        return self._prompt_ids(messages[-1]["content"].removesuffix(self.ending) + self.ending)

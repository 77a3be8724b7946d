"""How a model wants a conversation written."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pellucid.errors import UserError

__all__ = ["Conversation", "Message", "PromptOnlyConversation"]

Message = Mapping[str, str]
"""What somebody said: `role` (system, user, assistant) and `content`."""


class Conversation(Protocol):
    """Writes what was said as the model was taught to read it; a `ChatTemplate` is one."""

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Return the ids of a conversation up to where the next answer begins.

        Raises:
            UserError: for messages of another form, or those that the model cannot be given.
        """


class PromptOnlyConversation:
    """The conversation of a model that was trained on prompts and their completions: each prompt stands by itself.

    Args:
        prompt_ids: gives the ids that a prompt is read as.
        ending: line ends or spaces that every prompt ended with; put behind what is said.
    """

    def __init__(self, prompt_ids: Callable[[str], list[int]], ending: str = "") -> None:
        self._prompt_ids = prompt_ids
        self.ending = ending

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Return the ids of the last message, which is all that such a model is shown.

        Raises:
            UserError: if the last message is not the user's, or the model is to be told something beforehand.
        """
        roles = [message.get("role") for message in messages]
        if not roles or roles[-1] != "user":
            raise UserError(
                "expected a message of the user last",
                where="messages",
                hint="End with a message of role user.",
            )
        if "system" in roles:
            raise UserError(
                "the model was trained on single prompts and takes no system message",
                where="messages",
                hint="Leave the system message out, or put it into the prompt.",
            )
        return self._prompt_ids(messages[-1]["content"].removesuffix(self.ending) + self.ending)

"""How a model wants a conversation written."""

from collections.abc import Mapping, Sequence
from typing import Protocol

__all__ = ["Conversation", "Message"]

Message = Mapping[str, str]
"""What somebody said: `role` (system, user, assistant) and `content`."""


class Conversation(Protocol):
    """Writes what was said as the model was taught to read it; a `ChatTemplate` is one."""

    def encode(self, messages: Sequence[Message]) -> list[int]:
        """Return the ids of a conversation up to where the next answer begins.

        Raises:
            UserError: for messages of another form, or those that the model cannot be given.
        """

"""`LanguageModel`: the language model that users hold."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from pellucid.errors import UserError
from pellucid.generation.generate import OnProgress, Prompt, generate_texts, stream_text
from pellucid.generation.generated_text import Generation, TextStream
from pellucid.generation.text_model import Conversation, Message, TextModel
from pellucid.generation.text_score import TextScore, score_text

if TYPE_CHECKING:
    from pellucid.inspection import Look, LookBatch, WhatIf

__all__ = ["LanguageModel"]


class LanguageModel(TextModel):
    """A model that continues texts. Load one with `pellucid.load(folder)` or `LanguageModel.load(folder)`."""

    @overload
    def generate(self, prompt: str, *, on_progress: OnProgress | None = None, **settings: Any) -> Generation: ...

    @overload
    def generate(
        self, prompt: Sequence[str], *, on_progress: OnProgress | None = None, **settings: Any
    ) -> list[Generation]: ...

    def generate(
        self, prompt: str | Sequence[str], *, on_progress: OnProgress | None = None, **settings: Any
    ) -> Generation | list[Generation]:
        r"""Continue a prompt, or each of several, in order.

        In float32, a continuation never depends on the other prompts: with the same seed, each comes out as it would
        alone. An empty prompt begins a new text.

        Args:
            prompt: one text or several.
            on_progress: called with the number of new tokens since the last call.
            settings: fields of SamplingConfig, such as `tokens=100`, `temperature=0` or `stop=["\n"]`.

        Raises:
            UserError: for an unknown setting or an invalid value; for a prompt longer than the context, unless
                `sliding` is set.
        """
        texts = [prompt] if isinstance(prompt, str) else prompt
        if not isinstance(texts, Iterable):
            raise _not_text(prompt, "a text or a list of texts", "prompt")
        prompts = [self._prompt(text, "a text or a list of texts") for text in texts]
        progress = on_progress or (lambda tokens: None)
        found = generate_texts(self, prompts, self.settings(**settings), progress)
        return found[0] if isinstance(prompt, str) else found

    def stream(self, prompt: str, **settings: Any) -> TextStream:
        """Continue a prompt, giving the text as it is generated; at the end, `generation` of the stream has the rest.

        The settings are those of `generate`, which gives the same text; one sample only.

        Raises:
            UserError: as `generate`.
        """
        return stream_text(self, self._prompt(prompt, "one text"), self.settings(**settings))

    def chat(self, messages: Sequence[Message], **settings: Any) -> Generation:
        """Answer the last message of a conversation.

        Args:
            messages: each with `role` (system, user, assistant) and `content`; the last is the user's.
            settings: as for `generate`.

        Raises:
            UserError: if the model is not instruction-tuned, or rejects these messages; and as `generate`.
        """
        return generate_texts(self, [self._chat_prompt(messages)], self.settings(**settings))[0]

    def chat_stream(self, messages: Sequence[Message], **settings: Any) -> TextStream:
        """Answer the last message of a conversation, giving the text as it is generated.

        The settings are those of `stream`.

        Raises:
            UserError: as `chat`.
        """
        return stream_text(self, self._chat_prompt(messages), self.settings(**settings))

    def require_conversation(self) -> Conversation:
        """Return how conversations are written for this model.

        Raises:
            UserError: if it is not instruction-tuned.
        """
        if self.conversation is None:
            raise UserError(
                "the model cannot chat: it has no chat template, and was not trained on prompts",
                where="conversation",
                hint="Continue a text with it instead: `pellucid generate`, or generate() in Python.",
            )
        return self.conversation

    def has_room(self, messages: Sequence[Message], **settings: Any) -> bool:
        """Check whether a conversation leaves room in the context for all new tokens, or for half the context.

        Raises:
            UserError: as `chat`.
        """
        answer = min(self.settings(**settings).tokens, self.context // 2)
        return len(self._chat_prompt(messages).ids) + answer <= self.context

    def score(self, text: str, given: str = "", *, stride: int | None = None) -> TextScore:
        """Compute the log-probability of a text after another one, token by token (natural logarithm).

        The two are encoded as one text, or separately where a token would reach across the border. Texts longer than
        the context are read through overlapping windows, see `score_tokens`; nothing is cut.

        Args:
            stride: of the windows, tokens; half the context by default.

        Raises:
            UserError: if `given` is empty and no token of the model can start a text; for a stride that would leave
                tokens out.
        """
        for value, name in ((text, "text"), (given, "given")):
            if not isinstance(value, str):
                raise _not_text(value, "one text, and optionally one that precedes it", name)
        return score_text(self, text, given, self.checked_stride(stride))

    @overload
    def look(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
        self, text: str, *, tokens: int = 0, what: Sequence[str] | None = None
    ) -> "Look": ...

    @overload
    def look(self, text: Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None) -> "LookBatch": ...

    def look(
        self, text: str | Sequence[str], *, tokens: int = 0, what: Sequence[str] | None = None
    ) -> "Look | LookBatch":
        """Record every number while the model reads a text: see `pellucid.inspection.look_at_language_model`."""
        from pellucid.inspection import look_at_language_model

        return look_at_language_model(self, text, tokens=tokens, what=what)

    def what_if(self, text: str) -> "WhatIf":
        """Prepare a run with edited numbers: see `pellucid.inspection.what_if.WhatIf`."""
        from pellucid.inspection import what_if_language_model

        return what_if_language_model(self, text)

    def _prompt(self, text: object, expected: str) -> Prompt:
        if not isinstance(text, str):
            raise _not_text(text, expected, "prompt")
        return Prompt(text, self.prompt_ids(text))

    def _chat_prompt(self, messages: Sequence[Message]) -> Prompt:
        ids = self.require_conversation().encode(messages)
        return Prompt(messages[-1]["content"] if messages else "", ids)


def _not_text(value: object, expected: str, where: str) -> UserError:
    return UserError(f"expected {expected}, got {type(value).__name__}", where=where, hint="Pass a str.")

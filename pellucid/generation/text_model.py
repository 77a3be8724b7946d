"""A language model with what it needs to write and score text: tokenizer, settings, decoder, conversation format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from pellucid.errors import UsageError, UserError
from pellucid.generation.continuation import ContextWindow, DecodingVocabulary
from pellucid.generation.decoder import BatchDecoder, ModelDecoder
from pellucid.generation.device import move_model
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.settings import override_settings, read_settings
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.weights import load_decoder_only
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers import ImportedTokenizer, LanguageTokenizer, load_language_tokenizer
from pellucid.tokenizers.chat_template import load_chat_template

if TYPE_CHECKING:
    from pellucid.generation.compiled.packing import Precision

__all__ = ["Conversation", "Message", "PromptOnlyConversation", "TextModel", "begin_ids"]

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


@dataclass(frozen=True, eq=False)
class TextModel:
    """What the functions that generate, score and inspect text work on; `LanguageModel` adds the methods users call.

    Attributes:
        model: the network, in the precision and on the device that it runs in.
        config: how to sample, unless a call says otherwise.
        make_decoder: creates a decoder with a cache of its own; None: the network itself decodes.
        conversation: how conversations are written for this model; None if it is not instruction-tuned.
    """

    model: DecoderOnly
    tokenizer: LanguageTokenizer
    config: SamplingConfig = field(default_factory=SamplingConfig)
    make_decoder: Callable[[], BatchDecoder] | None = field(default=None, kw_only=True)
    conversation: Conversation | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.model.eval()

    def __repr__(self) -> str:
        return f"<language model, context {self.context:,} tokens, vocabulary {self.model.vocab_size:,}>"

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto", precision: str = "auto") -> Self:
        """Load a language model from its folder.

        Args:
            folder: written by `pellucid train lm` or `pellucid import`.
            device: auto (CUDA if available), cpu, cuda, cuda:1 …
            precision: of the weights: float32 (auto), bfloat16 or int8. On the CPU, generation computes in float32 in
                any case, and a text never depends on the others in its batch. int8 is for generation on the CPU;
                scoring stays in float32.

        Raises:
            UserError: if the folder holds no language model, or a damaged one.
            UsageError: for a device or precision that is not available.
        """
        folder = Path(folder)
        config = read_config(folder, "language-model")
        tokenizer = load_language_tokenizer(folder)
        model = load_decoder_only(config, folder / "model.safetensors")
        model = move_model(model, device, "float32" if precision == "int8" else precision)
        return cls(
            model,
            tokenizer,
            read_settings(folder, SamplingConfig),
            make_decoder=_compiled_decoders(model, precision),
            conversation=_load_conversation(folder, tokenizer),
        )

    @property
    def context(self) -> int:
        """The context length: most tokens that are read at once."""
        return self.model.config.max_positions

    @property
    def window(self) -> ContextWindow:
        """What is read at once of a text that is longer than the context.

        A start token that the model has seen before every text stays in view. A model trained here has not: pieces of
        its long documents began anywhere.
        """
        starts = isinstance(self.tokenizer, ImportedTokenizer) and self.tokenizer.adds_start
        return ContextWindow(self.context, sink_tokens=int(starts))

    @cached_property
    def vocabulary(self) -> DecodingVocabulary:
        """What decoding looks up about each id."""
        return DecodingVocabulary(self.tokenizer, self.model.vocab_size)

    def new_decoder(self) -> BatchDecoder:
        """Create a decoder with an empty cache."""
        return ModelDecoder(self.model) if self.make_decoder is None else self.make_decoder()

    def settings(self, **settings: Any) -> SamplingConfig:
        """Override some of the model's settings; None leaves a setting unchanged.

        Raises:
            UserError: for an unknown setting or an invalid value.
        """
        if isinstance(settings.get("stop"), str):
            settings["stop"] = (settings["stop"],)
        return override_settings(self.config, settings)

    def checked_stride(self, stride: int | None) -> int:
        """Check the stride of the windows over a text longer than the context; half the context if None.

        Raises:
            UserError: if it is below 1, or so large that tokens would fall between two windows.
        """
        most = self.context - self.window.sink_tokens
        if stride is not None and not 1 <= stride <= most:
            raise UserError(
                f"expected a stride from 1 to {most} tokens, got {stride}",
                where="stride",
                hint=f"Leave it out for {max(1, self.context // 2)}, half the context.",
            )
        return stride or max(1, self.context // 2)

    def prompt_ids(self, text: str) -> list[int]:
        """Encode a prompt, start token included.

        Raises:
            UserError: if the prompt is empty and no token of the model can start a text.
        """
        return _prompt_ids(self.tokenizer, text)


def _prompt_ids(tokenizer: LanguageTokenizer, text: str) -> list[int]:
    ids = tokenizer.encode(text)
    return [*begin_ids(tokenizer, always=not ids), *ids]


def begin_ids(tokenizer: LanguageTokenizer, *, always: bool) -> list[int]:
    """Look up what stands before a text: the start token, or nothing if the model was trained without one.

    If `always`, the end token of a preceding text serves where there is no start token.

    Raises:
        UserError: if one is required and the model has neither.
    """
    if not (always or tokenizer.adds_start):
        return []
    token_id = tokenizer.start_id if tokenizer.start_id is not None else tokenizer.end_id
    if token_id is None:
        raise UserError(
            "the model has no token that starts a text", where="prompt", hint="Give a prompt that is not empty."
        )
    return [token_id]


def _load_conversation(folder: Path, tokenizer: LanguageTokenizer) -> Conversation | None:
    """Load how the model is addressed: by its chat template, or, if trained here on prompts, by single prompts."""
    if isinstance(tokenizer, ImportedTokenizer):
        return load_chat_template(folder, tokenizer)
    report = folder / "report.json"
    data = read_json(report).get("data") if report.is_file() else None
    if not isinstance(data, dict) or not data.get("with_prompt"):
        return None
    return PromptOnlyConversation(lambda text: _prompt_ids(tokenizer, text), str(data.get("prompt_ending", "")))


def _compiled_decoders(model: DecoderOnly, precision: str) -> Callable[[], BatchDecoder] | None:
    """Choose what creates decoders: the compiled model on the CPU; None, the network itself, elsewhere."""
    device = model.embedding.weight.device.type
    if device == "cpu":
        from pellucid.generation.compiled.decoder import compile_at_first_use  # loads Numba

        return compile_at_first_use(model, cast("Precision", "float32" if precision == "auto" else precision))
    if precision == "int8":
        raise UsageError(
            f"int8 runs on the CPU only, not on {device}",
            where="--precision int8",
            hint="Add `--device cpu`, or use bfloat16.",
        )
    return None

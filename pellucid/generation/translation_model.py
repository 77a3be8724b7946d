"""A translation model with everything it needs to translate: its tokenizers, its settings, its languages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from pellucid.errors import UserError
from pellucid.generation.constraints import SpecialTokens
from pellucid.generation.device import move_model
from pellucid.generation.generation_config import LONGEST_SPLIT, GenerationConfig
from pellucid.generation.settings import override_settings, read_settings
from pellucid.generation.text_splitting import TextSplitter
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.weights import load_encoder_decoder
from pellucid.storage.model_folder import read_config
from pellucid.tokenizers import Tokenizer
from pellucid.tokenizers.model_tokenizers import load_tokenizer_pair

__all__ = ["TranslationModel"]


@dataclass(frozen=True, eq=False)
class TranslationModel:
    """What the functions that translate, score and inspect work on; `Translator` adds the methods that users call.

    Attributes:
        model: the network, in the precision and on the device that it runs in.
        target_tokenizer: of the target language; may be the same object.
        config: how to search, unless a call says otherwise.
        alignment_heads: (layer, head) of the cross-attention heads that training guided towards word alignments.
        copies_placeholders: whether the model was trained to copy placeholder ids.
        source_language, target_language: language codes; None if unknown.
    """

    model: EncoderDecoder
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    config: GenerationConfig = field(default_factory=GenerationConfig)
    alignment_heads: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    copies_placeholders: bool = field(default=False, kw_only=True)
    source_language: str | None = field(default=None, kw_only=True)
    target_language: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.model.eval()

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto", precision: str = "auto") -> Self:
        """Load a translator from its folder.

        Args:
            folder: written by `pellucid train translator`.
            device: auto (CUDA if available), cpu, cuda, cuda:1 …
            precision: float32 or bfloat16, for weights and arithmetic; auto is float32, in which a translation never
                depends on the others in its batch.

        Raises:
            UserError: if the folder holds no translator, or a damaged one.
            UsageError: for a device or precision that is not available.
        """
        folder = Path(folder)
        config = read_config(folder, "translator")
        model = move_model(load_encoder_decoder(config, folder / "model.safetensors"), device, precision)
        tokenizers = load_tokenizer_pair(folder)
        return cls.with_network(folder, model, tokenizers.source, tokenizers.target)

    @classmethod
    def with_network(
        cls, folder: str | Path, model: EncoderDecoder, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
    ) -> Self:
        """Combine a network in memory with the settings, languages and alignment heads of a model folder.

        Args:
            folder: of a model, finished or in training.
            model: its network, in the precision and on the device that it runs in.

        Raises:
            UserError: if the folder holds no translator, or a damaged one.
        """
        folder = Path(folder)
        config = read_config(folder, "translator")
        return cls(
            model,
            source_tokenizer,
            target_tokenizer,
            read_settings(folder, GenerationConfig),
            alignment_heads=_alignment_heads(folder, config, model.config),
            copies_placeholders=bool(config.get("placeholders", False)),
            source_language=config.get("source_language"),
            target_language=config.get("target_language"),
        )

    @property
    def special_tokens(self) -> SpecialTokens:
        """The special ids of the target vocabulary."""
        tokenizer = self.target_tokenizer
        return SpecialTokens(tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id, tuple(tokenizer.placeholder_ids))

    def settings(self, **settings: Any) -> GenerationConfig:
        """Override some of the model's settings; None leaves a setting unchanged.

        Raises:
            UserError: for an unknown setting or an invalid value.
        """
        changed = {name: value for name, value in settings.items() if value is not None}
        if "n_best" in changed and "beam" not in changed:
            changed["beam"] = max(self.config.beam, changed["n_best"])
        config = override_settings(self.config, changed)
        limit = self.model.config.position_limit
        if limit is not None and "split_above" in changed and (config.split_above or 0) >= limit:
            raise UserError(
                f"split_above: {config.split_above} tokens and their end token need more than the {limit} positions "
                "that the model has learned",
                where="split_above",
                hint=f"Set it to at most {limit - 1}.",
            )
        return config

    def text_splitter(self, config: GenerationConfig) -> TextSplitter:
        """Create the splitter that cuts texts into parts for this model."""
        longest = config.split_above or LONGEST_SPLIT
        limit = self.model.config.position_limit
        if limit is not None:
            longest = min(longest, limit - 1)
        placeholder_ids = len(self.source_tokenizer.placeholder_ids) if self.copies_placeholders else 0
        return TextSplitter(self.source_tokenizer, longest, config.protect_placeholders, placeholder_ids)


def _alignment_heads(
    folder: Path, config: Mapping[str, Any], shape: EncoderDecoderConfig
) -> tuple[tuple[int, int], ...]:
    existing = {(layer, head) for layer in range(shape.decoder_layers) for head in range(shape.n_heads)}
    try:
        heads = tuple((layer, head) for layer, head in config.get("alignment_heads", ()))
        fit = existing.issuperset(heads)
    except (TypeError, ValueError):
        fit = False
    if not fit:
        raise UserError(
            f"alignment_heads names decoder heads that the model does not have: {config['alignment_heads']}",
            where=str(folder / "config.json"),
            hint="Copy the folder again from where it is intact, or set alignment_heads to [].",
        )
    return heads

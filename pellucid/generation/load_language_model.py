"""A folder of a language model → a model that goes on with texts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pellucid.errors import UsageError
from pellucid.generation.conversation import PromptOnlyConversation
from pellucid.generation.decoder import BatchDecoder
from pellucid.generation.device import move_model
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.settings import read_settings
from pellucid.language_model import LanguageModel
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.weights import load_decoder_only
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers import ImportedTokenizer, load_language_tokenizer
from pellucid.tokenizers.chat_template import load_chat_template

if TYPE_CHECKING:
    from pellucid.generation.compiled.packing import Precision

__all__ = ["load_language_model"]

_PRECISIONS: "dict[str, Precision]" = {
    "auto": "float32",
    "float32": "float32",
    "bfloat16": "bfloat16",
    "int8": "int8",
}


def load_language_model(folder: str | Path, *, device: str = "auto", precision: str = "auto") -> LanguageModel:
    """Load a language model.

    Args:
        folder: what `pellucid train lm` or `pellucid import` wrote.
        device: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: of the weights: float32 (auto), bfloat16 or int8. On the processor the arithmetic of generating is
            float32 all the same, and a neighbour in the batch never changes a continuation. int8 is for generating on
            the processor; scoring stays in float32.

    Raises:
        UserError: if the folder holds no language model, or one that is damaged.
        UsageError: for a device or a precision that does not exist here.
    """
    folder = Path(folder)
    config = read_config(folder, "language-model")
    tokenizer = load_language_tokenizer(folder)
    model = load_decoder_only(config, folder / "model.safetensors")
    model = move_model(model, device, "float32" if precision == "int8" else precision)
    settings = read_settings(folder, SamplingConfig)
    found = LanguageModel(model, tokenizer, settings, new_decoder=_decoders(model, precision))
    if isinstance(tokenizer, ImportedTokenizer):
        found.conversation = load_chat_template(folder, tokenizer)
    else:
        found.conversation = _single_prompts(folder, found)
    return found


def _single_prompts(folder: Path, model: LanguageModel) -> PromptOnlyConversation | None:
    """Return how a model trained here is asked, by the report of its text; None if that had no prompts to be obeyed."""
    report = folder / "report.json"
    data = read_json(report).get("data") if report.is_file() else None
    if not isinstance(data, dict) or not data.get("with_prompt"):
        return None
    return PromptOnlyConversation(model.prompt_ids, str(data.get("prompt_ending", "")))


def _decoders(model: DecoderOnly, precision: str) -> Callable[[], BatchDecoder] | None:
    """Return what makes decoders: of the compiled model on the processor, None (the model itself) elsewhere."""
    device = model.embedding.weight.device.type
    if device == "cpu":
        from pellucid.generation.compiled.decoder import compile_at_first_use  # loads Numba

        return compile_at_first_use(model, _PRECISIONS[precision])
    if precision == "int8":
        raise UsageError(
            f"int8 runs on the processor, and the model shall be on {device}",
            where="--precision int8",
            hint="Add `--device cpu`, or use bfloat16.",
        )
    return None

"""A folder of a language model → a model that goes on with texts."""

from pathlib import Path

from pellucid.generation.conversation import SinglePrompts
from pellucid.generation.generate import LanguageModel
from pellucid.generation.placement import placed
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.settings import stored_settings
from pellucid.models.model_files import build_language_model
from pellucid.storage.model_folder import read_config, read_json
from pellucid.tokenizers import ImportedTokenizer, load_language_tokenizer
from pellucid.tokenizers.chat_template import load_chat_template

__all__ = ["load_language_model"]


def load_language_model(folder: str | Path, *, device: str = "auto", precision: str = "auto") -> LanguageModel:
    """Load a language model.

    Args:
        folder: what `pellucid train lm` or `pellucid import` wrote.
        device: auto (CUDA where there is one), cpu, cuda, cuda:1 …
        precision: float32 or bfloat16 for weights and arithmetic; auto is float32, in which a neighbour in the batch
            never changes a continuation.

    Raises:
        UserError: if the folder holds no language model, or one that is damaged.
        UsageError: for a device or a precision that does not exist here.
    """
    folder = Path(folder)
    config = read_config(folder, "language-model")
    tokenizer = load_language_tokenizer(folder)
    model = placed(build_language_model(config, folder / "model.safetensors"), device, precision)
    found = LanguageModel(model, tokenizer, stored_settings(folder, SamplingConfig))
    if isinstance(tokenizer, ImportedTokenizer):
        found.conversation = load_chat_template(folder, tokenizer)
    elif _had_prompts(folder):
        found.conversation = SinglePrompts(found.prompt_ids)
    return found


def _had_prompts(folder: Path) -> bool:
    """Tell by the report of a model trained here whether its text had prompts to be obeyed."""
    report = folder / "report.json"
    data = read_json(report).get("data", {}) if report.is_file() else {}
    return bool(isinstance(data, dict) and data.get("with_prompt"))

"""A language model that follows instructions, trained once on the demo language."""

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pellucid.claims.demo_translator import demo_data
from pellucid.demo.instructions import training_records, write_instructions
from pellucid.demo.language import DemoData
from pellucid.language_model import LanguageModel
from pellucid.training.train_lm import train_lm

__all__ = ["InstructedModel", "continue_prompts", "demo_language_model"]


class InstructedModel(NamedTuple):
    """A language model and the sentences its instructions were made from."""

    model: LanguageModel
    data: DemoData


@lru_cache(maxsize=16)
def demo_language_model(steps: int, seed: int) -> InstructedModel:
    """Train a Llama-like language model on the pairs that `demo_translator` is trained on.

    It has the width of that translator and about as many parameters.

    Args:
        steps: updates of 1,024 tokens.
    """
    data = demo_data(6_000, seed)
    with tempfile.TemporaryDirectory(prefix="pellucid-claims-") as folder:
        train, valid, out = Path(folder) / "train.jsonl", Path(folder) / "valid.jsonl", Path(folder) / "lm"
        write_instructions(train, training_records(data.train, seed))
        write_instructions(valid, training_records(data.valid, seed))
        chosen = {
            "training.seed": seed, "training.precision": "float32", "training.validations": 1,
            "training.learning_rate": 6e-3, "training.schedule": "linear",
            "training.warmup_steps": max(1, min(100, steps // 5)), "model.max_positions": 128,
            "model.n_layers": 4, "model.d_ff": 208, "model.activation": "swiglu", "model.positions": "rope",
            "model.norm": "rmsnorm", "model.bias": False,
        }  # fmt: skip
        for _ in train_lm([train], out, recipe="tiny", steps=steps, valid=[valid], settings=chosen, device="cpu"):
            pass
        return InstructedModel(LanguageModel.load(out, device="cpu"), data)


def continue_prompts(model: LanguageModel, prompts: Sequence[str], tokens: int = 40) -> list[str]:
    """Continue each prompt greedily."""
    return [found.text for found in model.generate(list(prompts), temperature=0, tokens=tokens)]

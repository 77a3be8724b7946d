"""Settings of text generation (`generation.*` in a recipe; generation_config.json of a language model)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["SamplingConfig"]


class SamplingConfig(BaseModel):
    """Settings of how each token is sampled, and of when to stop.

    The repetition penalty comes first. Then forbidden tokens are removed: special tokens, and bytes that would break a
    character. Then temperature, top_k, top_p and min_p are applied, each to what the one before it left, normalised
    again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tokens: int = Field(200, ge=1, description="maximum number of new tokens")
    temperature: float = Field(
        0.8,
        ge=0,
        description="divides the log-probabilities; 1: the model's own distribution, 0: always the most probable token",
    )
    top_k: int = Field(0, ge=0, description="sample from the k most probable tokens; 0: from all")
    top_p: float = Field(
        1.0,
        ge=0,
        le=1,
        description="sample from the fewest most probable tokens whose probabilities sum to this (Holtzman et al. "
        "2020); 1: from all",
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description="sample from tokens at least this many times as probable as the most probable one (Nguyen et al. "
        "2024)",
    )
    repetition_penalty: float = Field(
        1.0,
        gt=0,
        description="divides the logit of every token that has occurred if it is positive, and multiplies it if "
        "negative (Keskar et al. 2019), except for the end of the text; 1: off",
    )
    repetition_window: int = Field(
        0, ge=0, description="number of latest tokens that the penalty considers, the prompt's included; 0: all of them"
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), description="strings at which the text ends; it ends before the first one that would occur"
    )
    seed: int | None = Field(
        None, ge=0, description="seed of the sampling: the same seed gives the same text; default: a new one each time"
    )
    samples: int = Field(1, ge=1, description="number of independent continuations of each prompt")
    alternatives: int = Field(0, ge=0, description="number of most probable tokens reported beside each sampled one")
    sliding: bool = Field(
        False,
        description="when the context is full, continue from its latest half and the text's start token, if the model "
        "has one; otherwise a long prompt is an error, and the text ends where the context does",
    )

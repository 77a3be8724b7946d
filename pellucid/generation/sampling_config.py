"""How a language model goes on with a text, unless told otherwise (generation_config.json of a language model)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["SamplingConfig"]


class SamplingConfig(BaseModel):
    """Settings of the draw of each token, and of when to stop.

    Each token is drawn in this order: the repetition penalty; what may not come next falls away (special tokens, bytes
    that would break a character); the temperature; top_k; top_p; min_p. Each cut sees what the one before it left,
    made to sum to 1 again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    tokens: int = Field(200, ge=1, description="most new tokens")
    temperature: float = Field(
        0.8, ge=0, description="log-probabilities are divided by it; 1: as the model says, 0: always the most probable"
    )
    top_k: int = Field(0, ge=0, description="draw among the k most probable; 0, or more than there are: among all")
    top_p: float = Field(
        1.0,
        ge=0,
        le=1,
        description="draw among the fewest most probable whose probabilities sum to this much (Holtzman et al. 2020); "
        "1: among all",
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description="draw among those at least this share as probable as the most probable (Nguyen et al. 2024)",
    )
    repetition_penalty: float = Field(
        1.0,
        gt=0,
        description="the logit of every token that occurs in the counted text, once or often, is divided by this if "
        "positive and multiplied if negative (Keskar et al. 2019); the end of the text is never penalised; 1: off",
    )
    repetition_window: int = Field(
        0, ge=0, description="counted text: so many last tokens, the prompt's and the new ones'; 0: all of them"
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), description="the text ends before the first of these strings that would occur in it"
    )
    seed: int | None = Field(
        None, ge=0, description="of the draws: with the same seed the same text; none: another each time, and told"
    )
    samples: int = Field(1, ge=1, description="continuations of each prompt, each drawn for itself")
    alternatives: int = Field(0, ge=0, description="for each token, how many of the most probable ones to tell with it")
    sliding: bool = Field(
        False,
        description="when the context is full, go on with the latest half of it and the text's start, if the model "
        "has one; without, a prompt that is too long is an error, and the text ends where the context does",
    )

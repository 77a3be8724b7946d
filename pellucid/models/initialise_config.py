"""How a model's weights start: the settings, apart from the code so that they load without PyTorch."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["InitialiseConfig", "LanguageModelInitialiseConfig"]


class InitialiseConfig(BaseModel):
    """How weights start (`initialise.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    residual_scale: float = Field(
        0.5,
        gt=0,
        description="factor on the initial weights of projections that write to the residual stream; 1 in the paper",
    )
    from_lexicon: bool = Field(
        True, description="start source embeddings as mixtures of their translations' embeddings"
    )
    identity_cross_attention: bool = Field(
        True, description="start cross-attention's value and output as an orthogonal matrix and its transpose"
    )


class LanguageModelInitialiseConfig(BaseModel):
    """How a language model's weights start (`initialise.*` in a recipe for one)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    residual_scale: float = Field(
        0.5, gt=0, description="factor on the initial weights of projections that write to the residual stream"
    )

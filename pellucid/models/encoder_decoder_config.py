"""The shape of a model: what is chosen when it is built, and never asked again in a forward pass."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pellucid.layers.position_scheme import PositionScheme, check_position_sizes, position_limit

__all__ = ["EncoderDecoderConfig", "divisors"]


class EncoderDecoderConfig(BaseModel):
    """Sizes and choices of an encoder–decoder Transformer (`model.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    d_model: int = Field(256, gt=0, description="width of the residual stream")
    n_heads: int = Field(4, gt=0, description="attention heads; each is d_model / n_heads wide")
    n_kv_heads: int | None = Field(
        None, gt=0, description="key and value heads (grouped-query attention, Ainslie et al. 2023); default: n_heads"
    )
    d_ff: int = Field(1024, gt=0, description="hidden width of the feed-forward sublayer")
    encoder_layers: int = Field(3, ge=1, description="blocks of the encoder")
    decoder_layers: int = Field(2, ge=1, description="blocks of the decoder")
    positions: PositionScheme = Field("rope", description="how self-attention is told where tokens stand")
    cross_positions: Literal["none", "rope"] = Field(
        "rope", description="rotary positions in cross-attention: the query's in the target, the key's in the source"
    )
    rope_base: float = Field(1000.0, gt=1, description="base of the rotary frequencies (RoFormer has 10,000)")
    learned_positions: int = Field(1024, gt=0, description="maximum length if positions are learned, tokens")
    norm: Literal["layernorm", "rmsnorm"] = Field("layernorm", description="normalisation layer")
    norm_placement: Literal["pre", "post"] = Field(
        "pre", description="before each sublayer, or after each residual sum as in the paper"
    )
    activation: Literal["relu", "gelu", "swiglu"] = Field("relu", description="non-linearity of the feed-forward")
    bias: bool = Field(True, description="biases in projections and feed-forward sublayers")
    tie_embeddings: Literal["all", "output", "none"] = Field(
        "all", description="one matrix for source, target and output; for target and output; or three of them"
    )
    scale_embeddings: bool = Field(True, description="multiply embeddings by √d_model (Vaswani et al. 2017, §3.4)")
    embeddings: str | None = Field(
        None, description="word vectors that initialise the embeddings of matching tokens; of dimension d_model"
    )
    freeze_embeddings: bool = Field(False, description="freeze the embeddings that were initialised from word vectors")
    dropout: float = Field(
        0.0, ge=0, lt=1, description="dropout probability of sublayer outputs and embeddings in training"
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="dropout probability of attention weights")

    @model_validator(mode="after")
    def _sizes_fit(self) -> "EncoderDecoderConfig":
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model {self.d_model} is not a multiple of n_heads {self.n_heads}:"
                f" set n_heads to one of {divisors(self.d_model)}"
            )
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_heads {self.n_heads} is not a multiple of n_kv_heads {self.kv_heads}:"
                f" set n_kv_heads to one of {divisors(self.n_heads)}"
            )
        for scheme in (self.positions, self.cross_positions):
            check_position_sizes(scheme, self.d_model, self.d_head)
        if self.freeze_embeddings and self.embeddings is None:
            raise ValueError("freeze_embeddings keeps rows that started from word vectors: name these by embeddings")
        return self

    @property
    def d_head(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads

    @property
    def position_limit(self) -> int | None:
        """How many positions the model can tell apart; None if any number."""
        return position_limit(self.positions, self.learned_positions)

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values, filled in."""
        return self.n_kv_heads or self.n_heads


def divisors(n: int) -> str:
    """Return the divisors of n as a list to choose from."""
    return ", ".join(str(d) for d in range(1, n + 1) if n % d == 0)

"""The shape of a language model: what is chosen when it is built, and never asked again in a forward pass."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pellucid.layers.position_scheme import PositionScheme, check_position_sizes, position_limit
from pellucid.models.encoder_decoder_config import divisors

__all__ = ["DecoderOnlyConfig", "RotaryScaling"]


class RotaryScaling(BaseModel):
    """How rotary frequencies are slowed for a context longer than the model was first trained with.

    Source:
        Llama 3 (Grattafiori et al. 2024, §3.4); its published configuration names the four numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    factor: float = Field(gt=0, description="divisor of low frequencies")
    low_frequency: float = Field(
        1.0, gt=0, description="frequencies that complete fewer rotations than this within original_positions are low"
    )
    high_frequency: float = Field(
        4.0, gt=0, description="frequencies that complete more rotations than this are not scaled"
    )
    original_positions: int = Field(gt=0, description="the context that the model was first trained with, tokens")

    @model_validator(mode="after")
    def _in_order(self) -> "RotaryScaling":
        if self.low_frequency >= self.high_frequency:
            raise ValueError(
                f"low_frequency {self.low_frequency:g} is not below high_frequency {self.high_frequency:g}:"
                " frequencies between the two are slowed in part"
            )
        return self


class DecoderOnlyConfig(BaseModel):
    """Sizes and choices of a language model (`model.*` in a recipe for one)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    d_model: int = Field(256, gt=0, description="width of the residual stream")
    n_heads: int = Field(4, gt=0, description="attention heads")
    n_kv_heads: int | None = Field(
        None, gt=0, description="key and value heads (grouped-query attention, Ainslie et al. 2023); default: n_heads"
    )
    d_head: int | None = Field(None, gt=0, description="width of a head; default: d_model / n_heads")
    d_ff: int = Field(1024, gt=0, description="hidden width of the feed-forward sublayer")
    n_layers: int = Field(4, ge=1, description="blocks")
    positions: PositionScheme = Field("rope", description="how attention is told where tokens stand")
    rope_base: float = Field(10_000.0, gt=1, description="base of the rotary frequencies (10,000 in RoFormer)")
    rope_scaling: RotaryScaling | None = Field(
        None, description="scaling of rotary frequencies for a longer context; default: none"
    )
    max_positions: int = Field(256, gt=1, description="context length: maximum number of tokens read at once")
    norm: Literal["layernorm", "rmsnorm"] = Field("rmsnorm", description="normalisation layer")
    norm_epsilon: float = Field(1e-5, gt=0, description="added to the variance or mean square before its root")
    norm_placement: Literal["pre", "post"] = Field(
        "pre", description="before each sublayer, or after each residual sum as in the paper"
    )
    activation: Literal["relu", "gelu", "gelu_tanh", "swiglu"] = Field(
        "swiglu", description="non-linearity of the feed-forward sublayer; gelu_tanh is GPT-2's approximation of gelu"
    )
    bias: bool = Field(False, description="biases in projections and feed-forward sublayers")
    qkv_bias: bool | None = Field(
        None, description="biases of queries, keys and values (Qwen2 has only these); default: as bias"
    )
    qk_norm: bool = Field(False, description="RMSNorm of each head's query and key before rotation (Qwen3)")
    tie_embeddings: bool = Field(True, description="one matrix for input and output embeddings")
    scale_embeddings: bool = Field(False, description="multiply embeddings by √d_model (Vaswani et al. 2017, §3.4)")
    embeddings: str | None = Field(
        None, description="word vectors that initialise the embeddings of matching tokens; of dimension d_model"
    )
    freeze_embeddings: bool = Field(False, description="freeze the embeddings that were initialised from word vectors")
    dropout: float = Field(
        0.0, ge=0, lt=1, description="dropout probability of sublayer outputs and embeddings in training"
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="dropout probability of attention weights")

    @model_validator(mode="after")
    def _sizes_fit(self) -> "DecoderOnlyConfig":
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"d_model {self.d_model} is not a multiple of n_heads {self.n_heads}:"
                f" set n_heads to one of {divisors(self.d_model)}, or give d_head"
            )
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_heads {self.n_heads} is not a multiple of n_kv_heads {self.kv_heads}:"
                f" set n_kv_heads to one of {divisors(self.n_heads)}"
            )
        check_position_sizes(self.positions, self.d_model, self.head_width)
        if self.rope_scaling is not None and self.positions != "rope":
            raise ValueError(f"rope_scaling slows rotary positions, and positions are {self.positions}: leave it out")
        if self.freeze_embeddings and self.embeddings is None:
            raise ValueError("freeze_embeddings keeps rows that started from word vectors: name these by embeddings")
        return self

    @property
    def head_width(self) -> int:
        """Width of one head, filled in."""
        return self.d_head or self.d_model // self.n_heads

    @property
    def position_limit(self) -> int | None:
        """How many positions the model can tell apart; None if any number."""
        return position_limit(self.positions, self.max_positions)

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values, filled in."""
        return self.n_kv_heads or self.n_heads

    @property
    def projection_bias(self) -> bool:
        """Whether queries, keys and values have biases, filled in."""
        return self.bias if self.qkv_bias is None else self.qkv_bias

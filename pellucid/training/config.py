"""How a model is trained (`training.*` in a recipe)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["AlignerConfig", "LanguageModelTrainingConfig", "TrainingConfig", "TranslatorTrainingConfig"]


class TrainingConfig(BaseModel):
    """Length, batches, learning rate, regularisation, and what is written when: the same whatever is trained."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(1, ge=0, lt=2**63, description="every random choice of the run follows from it")
    steps: int | None = Field(None, gt=0, description="length of the run, updates; exact resume is promised for these")
    minutes: float | None = Field(None, gt=0, description="length of the run, minutes; reading and preparing count")
    clock: Literal["wall", "cpu"] = Field(
        "wall", description="what minutes are: time on the wall, or the process's processor time over its threads"
    )

    adapt: bool = Field(False, description="choose what is left open by how much the run will see")

    batch_tokens: int = Field(640, gt=0, description="tokens of an update, padding included; over all accumulations")
    micro_batch_tokens: int | None = Field(
        None, gt=0, description="tokens that pass at once; fitted to memory if not given; more of them are accumulated"
    )

    learning_rate: float = Field(2e-3, gt=0, description="highest learning rate of the schedule")
    schedule: Literal["linear", "cosine", "inverse_sqrt", "constant"] = Field(
        "linear", description="how the learning rate goes on after the warm-up: over the run, or with 1/√step"
    )
    warmup_steps: int = Field(60, ge=0, description="updates over which the learning rate rises from 0")
    adam_beta1: float = Field(0.9, ge=0, lt=1, description="decay of the mean gradient (Kingma & Ba 2015)")
    adam_beta2: float = Field(0.98, ge=0, lt=1, description="decay of the mean squared gradient (Vaswani et al. 2017)")
    adam_epsilon: float = Field(1e-8, gt=0, description="added to the root of the mean squared gradient")
    weight_decay: float = Field(0.0, ge=0, description="decoupled decay of matrices (Loshchilov & Hutter 2019)")
    clip_norm: float | None = Field(1.0, gt=0, description="gradients of a larger norm are scaled down to it")

    average_decay: float | None = Field(
        0.98,
        gt=0,
        lt=1,
        description="decay of the running average of the weights at each update of it; none: no average",
    )
    average_every: int = Field(5, gt=0, description="steps between two updates of the average")

    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="of matrix products; auto: bfloat16 where the device computes it natively"
    )
    compile: bool = Field(False, description="compile the model with torch.compile (slower on CPU as measured)")

    log_steps: int = Field(50, gt=0, description="steps between two lines of metrics.jsonl")
    validations: int = Field(
        10, ge=0, description="how often in a run the model is measured on validation text; at most every 2 minutes"
    )
    patience: int | None = Field(
        None, gt=0, description="validations without a better loss after which the run stops early; none: never"
    )
    checkpoint_steps: int | None = Field(
        None,
        gt=0,
        description="steps between two checkpoints; one is written every tenth of the run and every 10 minutes anyway",
    )
    keep_checkpoints: int = Field(2, gt=0, description="checkpoints kept beside the best")


class TranslatorTrainingConfig(TrainingConfig):
    """How a translator is trained: what is the same for all, and smoothing and guidance."""

    adapt: bool = Field(
        False,
        description="choose width, batches, learning rate, dropout and label smoothing by how many tokens the run will "
        "see and how often it passes through the text (pellucid/training/adapt_translator.py has the tables), where neither flags "
        "nor a file give them",
    )

    batch_tokens: int = Field(
        640, gt=0, description="tokens of an update, padding included, of the longer side; over all accumulations"
    )

    max_tokens: int = Field(
        256, gt=1, description="pairs with a longer side, end token included, are left out of training and counted"
    )

    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="share of the target distribution spread over all tokens (Szegedy et al. 2016)"
    )

    guided_weight: float = Field(
        2.0, ge=0, description="weight of the guided-alignment loss at the start; it falls linearly to 0"
    )
    guided_until: float = Field(1.0, gt=0, le=1, description="share of the run after which guidance has ended")
    guided_layer: int = Field(0, ge=0, description="decoder layer whose cross-attention is guided")
    guided_heads: int = Field(2, gt=0, description="how many of its heads, from the first on")

    validation_sentences: int = Field(
        200, ge=0, description="validation sentences translated for BLEU on that occasion; 0 for none"
    )


class LanguageModelTrainingConfig(TrainingConfig):
    """How a language model is trained: what is the same for all, and what it is asked to show."""

    adapt: bool = Field(
        False,
        description="choose the context, the sizes and dropout by the text and by how many tokens the run will see "
        "(pellucid/training/adapt_language_model.py has the tables), where neither flags nor a file give them",
    )
    batch_tokens: int = Field(8192, gt=0, description="tokens of an update, padding included; over all accumulations")

    validation_tokens: int = Field(
        65_536, gt=0, description="tokens of the validation text that the loss is measured on, spread evenly over it"
    )
    sample_tokens: int = Field(
        60, ge=0, description="tokens of a validation text's continuation shown at each validation; 0 for none"
    )


class AlignerConfig(BaseModel):
    """The statistical aligner that feeds initialisation and guidance (`aligner.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    iterations: int = Field(5, gt=0, description="rounds of expectation maximisation")
    diagonal_tension: float = Field(6.0, ge=0, description="how strongly links near the diagonal are preferred")
    null_probability: float = Field(0.08, gt=0, lt=1, description="share of target tokens that translate nothing")

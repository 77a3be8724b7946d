"""How a model is trained (`training.*` in a recipe)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["AlignerConfig", "LanguageModelTrainingConfig", "TrainingConfig", "TranslatorTrainingConfig"]


class TrainingConfig(BaseModel):
    """Length, batches, learning rate, regularisation and output: the settings that every kind of model shares."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(1, ge=0, lt=2**63, description="random seed of the whole run")
    steps: int | None = Field(
        None, gt=0, description="length of the run in optimizer steps; a run limited by steps resumes bit for bit"
    )
    minutes: float | None = Field(None, gt=0, description="length of the run in minutes, data preparation included")
    clock: Literal["wall", "cpu"] = Field(
        "wall", description="how minutes are measured: wall-clock time, or CPU time of the process divided by threads"
    )

    adapt: bool = Field(
        False, description="choose settings that are not given, based on the expected number of training tokens"
    )

    batch_tokens: int = Field(
        640, gt=0, description="tokens per optimizer step, padding included, summed over gradient accumulation"
    )
    micro_batch_tokens: int | None = Field(
        None,
        gt=0,
        description="tokens per forward pass; fitted to free memory unless given; larger batches are accumulated",
    )

    learning_rate: float = Field(2e-3, gt=0, description="peak learning rate")
    schedule: Literal["linear", "cosine", "inverse_sqrt", "constant"] = Field(
        "linear", description="learning rate schedule after the warm-up; linear and cosine decay over the whole run"
    )
    warmup_steps: int = Field(60, ge=0, description="steps over which the learning rate rises linearly from 0")
    adam_beta1: float = Field(0.9, ge=0, lt=1, description="decay of the first moment (Kingma & Ba 2015)")
    adam_beta2: float = Field(0.98, ge=0, lt=1, description="decay of the second moment (Vaswani et al. 2017)")
    adam_epsilon: float = Field(1e-8, gt=0, description="added to the denominator of Adam's update")
    weight_decay: float = Field(0.0, ge=0, description="decoupled weight decay of matrices (Loshchilov & Hutter 2019)")
    clip_norm: float | None = Field(1.0, gt=0, description="gradients are clipped to this norm; none: no clipping")

    average_decay: float | None = Field(
        0.98, gt=0, lt=1, description="decay of the exponential moving average of the weights; none: no average"
    )
    average_every: int = Field(5, gt=0, description="steps between two updates of the weight average")

    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="dtype of matrix products; auto: the faster on this machine, measured before the first step"
    )
    processes: int | None = Field(
        None,
        gt=0,
        description="processes on this machine, each with a copy of the model and a share of every batch; by default "
        "one for each core unless threads are much faster, measured before the first step",
    )
    compile: bool = Field(False, description="compile the model with torch.compile (slower on CPU in our measurements)")

    log_steps: int = Field(50, gt=0, description="steps between two lines of metrics.jsonl")
    validations: int = Field(
        10, ge=0, description="validations per run; in runs timed in minutes they take at most a tenth of the time"
    )
    patience: int | None = Field(
        None, gt=0, description="stop early after this many validations without improvement; none: never"
    )
    checkpoint_steps: int | None = Field(
        None,
        gt=0,
        description="steps between two checkpoints, besides those every tenth of the run and every 10 minutes",
    )
    keep_checkpoints: int = Field(2, gt=0, description="how many checkpoints to keep besides the best one")


class TranslatorTrainingConfig(TrainingConfig):
    """How a translator is trained: the shared settings, label smoothing and guided alignment."""

    adapt: bool = Field(
        False,
        description="choose model width, batch size, learning rate, dropout and label smoothing by the expected number "
        "of training tokens and epochs, unless flags or a recipe file give them (tables: "
        "pellucid/training/adapt_translator.py)",
    )
    batch_tokens: int = Field(
        640,
        gt=0,
        description="tokens of the longer side per optimizer step, padding included, summed over gradient accumulation",
    )
    max_tokens: int = Field(
        256, gt=1, description="longest side of a training pair in tokens, end token included; longer pairs are dropped"
    )
    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="probability mass spread over the whole vocabulary (Szegedy et al. 2016)"
    )
    guided_weight: float = Field(
        2.0, ge=0, description="initial weight of the guided-alignment loss, which decays linearly to 0; 0 disables it"
    )
    guided_until: float = Field(1.0, gt=0, le=1, description="share of the run after which guidance has ended")
    guided_layer: int = Field(0, ge=0, description="decoder layer whose cross-attention is guided, from 0")
    guided_heads: int = Field(2, gt=0, description="number of heads guided in that layer, from the first")
    stop_at_exact: float | None = Field(
        None,
        gt=0,
        le=1,
        description="stop once this share of the validation translations is the same as the reference; none: never",
    )
    validation_sentences: int = Field(
        200, ge=0, description="validation sentences translated for BLEU and chrF at each validation; 0: none"
    )


class LanguageModelTrainingConfig(TrainingConfig):
    """How a language model is trained: the shared settings, and what is measured and sampled at a validation."""

    adapt: bool = Field(
        False,
        description="choose context, model width, dropout and batch size by the text and the expected number of "
        "training tokens, unless flags or a recipe file give them (tables: pellucid/training/adapt_language_model.py)",
    )
    batch_tokens: int = Field(
        8192, gt=0, description="tokens per optimizer step, padding included, summed over gradient accumulation"
    )
    validation_tokens: int = Field(
        65_536, gt=0, description="tokens of the validation text to measure the loss on, spread evenly over it"
    )
    sample_tokens: int = Field(60, ge=0, description="length of the sample shown at each validation; 0: no sample")


class AlignerConfig(BaseModel):
    """The statistical aligner that feeds initialisation and guidance (`aligner.*` in a recipe)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    iterations: int = Field(5, gt=0, description="iterations of expectation maximisation")
    diagonal_tension: float = Field(6.0, ge=0, description="strength of the preference for links near the diagonal")
    null_probability: float = Field(0.08, gt=0, lt=1, description="probability that a target token is unaligned")

"""The logit lens: what the model would predict if it stopped after a layer."""

from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.inspection.labelled_array import LabelledArray, numbered_axis
from pellucid.inspection.recording import RecordedRun
from pellucid.inspection.residual_streams import residual_streams
from pellucid.inspection.structure import output_weight

__all__ = ["LogitLens", "layer_logits", "logit_lens"]


class LogitLens(NamedTuple):
    """The prediction after each layer.

    Attributes:
        top: ids of the most probable tokens, best first, [layer query rank].
        top_log_probs: their log-probabilities, [layer query rank]; nats.
        next_log_probs: log-probability of the next token, [layer query]; nats, NaN where it is not known.
        entropy: of the distribution, [layer query]; nats.
    """

    top: LabelledArray
    top_log_probs: LabelledArray
    next_log_probs: LabelledArray
    entropy: LabelledArray


def logit_lens(look: RecordedRun, top: int = 5) -> LogitLens:
    """Read the decoder's residual stream after every layer as if it were the last."""
    layers, queries = residual_streams(look, "decoder").axes[:2]
    ids = torch.tensor(look.encoded.next_tokens, dtype=torch.int64)
    columns: dict[str, list[Tensor]] = {name: [] for name in LogitLens._fields}
    for layer in range(len(layers.labels)):
        log_probs = layer_logits(look, layer).log_softmax(-1)
        best = log_probs.topk(min(top, log_probs.shape[-1]))
        next_log_probs = torch.full((len(log_probs),), torch.nan)
        next_log_probs[: len(ids)] = log_probs[: len(ids)].gather(-1, ids[:, None])[:, 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        for column, values in zip(columns.values(), (best.indices, best.values, next_log_probs, entropy), strict=True):
            column.append(values)
    ranks = numbered_axis("rank", columns["top"][0].shape[-1], start=1)

    def labelled(name: str, unit: str, meaning: str) -> LabelledArray:
        values = torch.stack(columns[name]).numpy()
        axes = (layers, queries, ranks)[: values.ndim]
        return LabelledArray(f"decoder.logit_lens.{name}", values, axes, unit, meaning)

    return LogitLens(
        labelled("top", "id", "most probable next tokens"),
        labelled("top_log_probs", "nats", "log-probability of the most probable next tokens"),
        labelled("next_log_probs", "nats", "log-probability of the next token"),
        labelled("entropy", "nats", "entropy of the prediction"),
    )


@torch.inference_mode()
def layer_logits(look: RecordedRun, layer: int) -> Tensor:
    """Project a layer's residual stream to logits, float32 [query vocab_size]; layer 0 is the input.

    norm(x) Wᵀ, with the statistics of this layer's own x in the norm: the logits of the last layer are the model's. The
    stream of a post-norm model is already normalised.

    Source:
        nostalgebraist 2020 (interpreting GPT: the logit lens).
    """
    weight = output_weight(look.model)
    x = torch.from_numpy(residual_streams(look, "decoder").values[layer]).to(weight)
    logits: Tensor = (look.stack("decoder").norm(x) @ weight.T).float().cpu()
    return logits

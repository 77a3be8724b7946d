"""The scores of the first layer, split into what content and position have to do with them.

The stream that enters the first block is a sum, content plus position. A norm before the attention divides both by the
same number, that of their sum, so the sum stays one; its own offset and the biases go with the content. Then

    q·k = (q_c + q_p)·(k_c + k_p) = content–content + content–position + position–content + position–position

Past the first layer there is no such sum: what enters the second block has been through attention and a non-linear
part, and what of it is "content" is no longer defined.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["PARTS", "FirstScores", "first_scores"]

PARTS = ("content–content", "content–position", "position–content", "position–position")


class FirstScores(NamedTuple):
    """The scores of the encoder's first layer, and the parts of them.

    Attributes:
        scores: as the model has them, [heads query key].
        parts: in the order of `PARTS`, [4 heads query key].
    """

    scores: Tensor
    parts: Tensor


def first_scores(model: EncoderDecoder, ids: Tensor) -> FirstScores:
    """Split the scores of one sentence.

    Args:
        model: with position codes that are added, and LayerNorm before its parts.
        ids: [1 source].
    """
    seen: dict[str, Tensor] = {}

    def record(name: str, x: Tensor) -> Tensor:
        seen[name] = x
        return x

    with torch.no_grad():
        model.encode(ids, record)
        block = model.encoder[0]
        content, position = seen["embedding.source"][0], seen["embedding.source_position"]
        norm, attention = block.around_self_attention.norm, block.self_attention
        stream = content + position
        scale = norm.weight / (stream.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
        sides = []
        for matrix in (attention.query, attention.key):
            of_content = (content - content.mean(-1, keepdim=True)) * scale + norm.bias
            of_position = (position - position.mean(-1, keepdim=True)) * scale
            bias = 0 if matrix.bias is None else matrix.bias
            both = of_content @ matrix.weight.T + bias, of_position @ matrix.weight.T
            sides.append([x.view(len(x), attention.n_heads, -1).transpose(0, 1) for x in both])
        parts = [q @ k.transpose(-1, -2) * attention.d_head**-0.5 for q in sides[0] for k in sides[1]]
    return FirstScores(seen["encoder.0.self_attention.scores"][0], torch.stack(parts))

"""Initial weights: drawn from a seed and, if a statistical lexicon is available, informed by it.

A translator that starts from random weights spends most of its first minutes learning to attend to the source at all.
Two things shorten that. *Lexical initialisation*: a source word's embedding starts as the mixture of its translations'
embeddings, so that a source token, once attended to, votes for its translations in the (tied) output. *Near-identity
cross-attention*: the value and output projections start as an orthogonal matrix and its transpose, so that what is
attended to arrives unchanged. `benchmarks/` measures what each of them brings.
"""

import numpy
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from pellucid.alignment.lexicon import Lexicon
from pellucid.layers.attention import Attention
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.feed_forward import FeedForward, GatedFeedForward
from pellucid.layers.positions import AttentionPositions, PositionEncoding
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.randomness import derive_seed

__all__ = ["init_from_lexicon", "init_identity_cross_attention", "init_weights"]


def init_weights(model: nn.Module, seed: int, residual_scale: float) -> None:
    """Draw all weights but those of norms anew: Xavier-uniform matrices, zero biases, embeddings of norm about 1.

    Learned positional encodings are drawn with deviation 0.02, as in BERT and GPT-2.

    Args:
        seed: of the run; the global generator is neither used nor advanced.
        residual_scale: factor on the matrices that write to the residual stream (the last of each sublayer).

    Source:
        Glorot & Bengio 2010, eq. 16.
    """
    random = torch.Generator().manual_seed(derive_seed(seed, "first weights"))
    for part in model.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight, generator=random)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, TokenEmbedding | PositionEncoding | AttentionPositions):
                part.init_weights(random)
        for part in model.modules():
            if isinstance(part, Attention):
                part.output.weight.mul_(residual_scale)
            elif isinstance(part, FeedForward | GatedFeedForward):
                part.down_projection.weight.mul_(residual_scale)


def init_identity_cross_attention(model: EncoderDecoder, seed: int) -> None:
    """Initialise cross-attention to pass on what it attends to: V orthogonal, O = Vᵀ.

    With fewer value heads than query heads, each value head serves a group of queries, so its part of Vᵀ is divided
    among them, and O V is the projection onto the n_kv_heads · d_head directions that the values keep.
    """
    random = torch.Generator().manual_seed(derive_seed(seed, "cross-attention"))
    with torch.no_grad():
        for block in model.decoder_blocks():
            attention = block.cross_attention
            nn.init.orthogonal_(attention.value.weight, generator=random)
            group = attention.n_heads // attention.n_kv_heads
            heads = attention.value.weight.view(attention.n_kv_heads, attention.d_head, -1)
            attention.output.weight.copy_(heads.repeat_interleave(group, dim=0).flatten(0, 1).T / group)


def init_from_lexicon(
    model: EncoderDecoder,
    lexicon: Lexicon,
    source_counts: Float[numpy.ndarray, " source_vocab"],
    target_counts: Float[numpy.ndarray, " target_vocab"],
    min_probability: float = 0.02,
) -> None:
    """Initialise source embeddings as mixtures of the embeddings of their translations.

    Let r be random unit vectors, t(f|e) the lexicon without translations below `min_probability`, normalised again, and
    m = unit(t r). With separate matrices, a source embedding is m. With one matrix for both languages, an embedding is
    unit(s·m + (1 − s)·r), where s is the share of the token's occurrences that are on the source side.
    A token without likely translations keeps its r.

    Args:
        lexicon: p(target id | source id).
        source_counts: occurrences of each id in the source, [source_vocab_size].
        target_counts: occurrences of each id in the target, [target_vocab_size].
        min_probability: translations less likely than this are ignored.
    """
    with torch.no_grad():
        target_rows = F.normalize(model.target_embedding.weight, dim=1)
        source_rows = F.normalize(model.source_embedding.weight, dim=1)
        mixtures = F.normalize(_translations(lexicon, min_probability) @ target_rows, dim=1)
        # A frequent source word may have so many translations that none is likely.
        mixtures = torch.where(mixtures.norm(dim=1, keepdim=True) > 0, mixtures, source_rows)
        if model.source_embedding is model.target_embedding:
            shares = (source_counts + 1e-3) / (source_counts + target_counts + 2e-3)
            share = torch.from_numpy(shares).float()[:, None]
            rows = F.normalize(share * mixtures + (1 - share) * target_rows, dim=1)
            model.target_embedding.weight.copy_(rows)
        else:
            model.target_embedding.weight.copy_(target_rows)
            model.source_embedding.weight.copy_(mixtures)


def _translations(lexicon: Lexicon, min_probability: float) -> Tensor:
    """Build the sparse [source_vocab_size, target_vocab_size] matrix of likely translations; rows sum to 1 or 0."""
    rows = lexicon.source_vocab_size
    entries = slice(0, int(lexicon.row_starts[rows]))
    sizes = numpy.diff(lexicon.row_starts[: rows + 1])
    row, column = numpy.repeat(numpy.arange(rows), sizes), lexicon.columns[entries].astype(numpy.int64)
    likely = lexicon.probabilities[entries] >= min_probability
    row, column, probability = row[likely], column[likely], lexicon.probabilities[entries][likely]
    sums = numpy.bincount(row, probability, minlength=rows)
    values = torch.from_numpy((probability / sums[row]).astype(numpy.float32))
    indices = torch.from_numpy(numpy.stack((row, column)))
    return torch.sparse_coo_tensor(indices, values, (rows, lexicon.target_vocab_size), check_invariants=True).coalesce()

"""A language model with an LSTM instead of attention, for comparison."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from pellucid.layers.embeddings import TokenEmbedding

__all__ = ["LstmLanguageModel"]


class LstmLanguageModel(nn.Module):
    """Embedding, LSTM and tied output embedding: tokens in, a distribution over the next token out.

    Source:
        Hochreiter & Schmidhuber 1997; Zaremba et al. 2014 for language modelling with it.
    """

    def __init__(self, vocab_size: int, d_model: int, n_layers: int = 1) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model, d_model**0.5)
        self.lstm = nn.LSTM(d_model, d_model, n_layers, batch_first=True)

    def forward(self, ids: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq vocab_size"]:
        """Compute the logits of the next token at each position."""
        states, _ = self.lstm(self.embedding(ids))
        return self.embedding.logits(states)

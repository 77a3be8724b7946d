"""R5: through the residual stream a word keeps its identity."""

from math import log10

import torch
import torch.nn.functional as F
from torch import Tensor

from pellucid.claims.ablations.no_residual import without_residual
from pellucid.claims.activations import Activations
from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_translator import demo_translator
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import no_mask, random_ids, small_decoder
from pellucid.claims.texts import SEEDS
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.encoder_decoder import EncoderDecoder

__all__ = ["CLAIM", "measure", "rank_left"]

_DEEP = 16
_ROUNDING = 1e-8  # of a float32 mean: less difference than this is none


def rank_left(model: DecoderOnly, ids: Tensor) -> float:
    """Return how far the tokens' last states are from being all one, relative to their size: 1e-8 is total collapse."""
    activations = Activations()
    with torch.no_grad():
        model.states(ids, activations, may_attend=no_mask(ids.shape[1]))
    x = activations[f"decoder.{len(model.decoder) - 1}.residual.output"][0]
    return max(float((x - x.mean(0)).norm() / x.norm()), _ROUNDING)


def _found_again(model: EncoderDecoder, sentences: list[list[int]]) -> list[float]:
    """Return, after each layer, the share of tokens whose own row is the nearest of all rows, by cosine."""
    rows = F.normalize(model.source_embedding.weight.detach(), dim=1)
    right, tokens = torch.zeros(len(model.encoder)), 0
    for ids in sentences:
        activations = Activations()
        text = torch.tensor([ids])

        with torch.no_grad():
            model.encode(text, activations)
        for layer in range(len(model.encoder)):
            stream = activations[f"encoder.{layer}.residual.output"][0] - activations["embedding.source_position"]
            right[layer] += ((F.normalize(stream, dim=1) @ rows.T).argmax(1) == text[0]).sum()
        tokens += len(ids)
    shares: list[float] = (right / tokens).tolist()
    return shares


def measure(budget: Budget, seed: int) -> Evidence:
    """Look for each token's own row after each layer of a trained encoder; and for rank in deep fresh networks."""
    last, collapsed, kept, records = [], [], [], []
    for number in budget.every_seed(seed):
        trained = demo_translator(budget.steps, number).translator
        sentences = [
            trained.source_tokenizer.encode(pair.source)
            for pair in demo_translator(budget.steps, number).data.test[:50]
        ]
        shares = _found_again(trained.model, sentences)
        last.append(shares[-1])
        records += [{"layer": n + 1, "seed": str(number), "found_again": share} for n, share in enumerate(shares)]
        ids = random_ids(number, 1, 12)
        kept.append(rank_left(small_decoder(number, n_layers=_DEEP), ids))
        plain = small_decoder(number, n_layers=_DEEP)
        without_residual(plain)
        collapsed.append(rank_left(plain, ids))
    titles = {
        "layer": Text("encoder layer", "编码器层"),
        "found_again": Text("own row is the nearest", "最近的行就是自己"),
        "seed": Text("seed", "种子"),
    }
    numbers = {
        "found_again_at_the_last_layer": mean_over_seeds(last),
        "powers_of_ten_more_left_with_residual": mean_over_seeds(
            log10(a / b) for a, b in zip(kept, collapsed, strict=True)
        ),
        "difference_of_tokens_left_with_residual": mean_over_seeds(kept),
        "difference_of_tokens_left_without_residual": mean_over_seeds(collapsed),
    }
    return Evidence(numbers, records, Figure("line", "layer", "found_again", "seed", titles))


CLAIM = Claim(
    id="R5",
    statement=Text("Through the residual stream a word keeps its identity.", "借助残差流，词保持自己的身份。"),
    equation="x_L[i] = x_0[i] + Σ_l F_l(x)[i]",
    measured=Text(
        "a trained encoder: share of tokens whose own embedding row is the nearest to their state after the last "
        "layer (position "
        "code taken off); fresh networks of 16 layers: how different the tokens' states still are, with the sum and "
        "without",
        "训练后的编码器：末层状态（减去位置编码）最近的嵌入行正是自己的词元比例；16 层新网络：各词元状态还有多大差别，"
        "有残差与无残差",
    ),
    rule=Rule(
        (
            at_least(
                "found_again_at_the_last_layer",
                0.5,
                Text("half of the tokens at least, among a whole vocabulary", "在整个词表中至少一半词元找得回来"),
                fails_at=0.2,
            ),
            at_least(
                "powers_of_ten_more_left_with_residual",
                2.0,
                Text(
                    "a hundred times the difference that is left without: the sum is what keeps tokens apart",
                    "剩余的差别是无残差时的百倍：使词元保持分明的正是残差",
                ),
                fails_at=1.0,
            ),
            at_most("difference_of_tokens_left_without_residual", 0.1, SEEDS, fails_at=0.3),
        )
    ),
    reading=Text(
        "Attention alone averages: without the sum, tokens' states run together doubly exponentially with depth, to "
        "rank one (Dong et "
        "al. 2021), and feed-forward parts slow this without ending it. With it, a word stays legible in its own "
        "place, which is what "
        "the logit lens reads (nostalgebraist 2020), though a language model must turn each word into the next on the "
        "way.",
        "注意力本身是平均：没有残差时，各词元的状态随深度以双重指数的速度混为一体，趋于秩一（Dong 等 2021），前馈部分"
        "只能减缓而不能终结。"
        "有了残差，词在自己的位置上始终可辨，logit lens 读的就是它（nostalgebraist 2020）；不过语言模型须在途中把每个"
        "词变成下一个词。",
    ),
    sources=(
        "Dong et al. 2021, Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth",
        "nostalgebraist 2020, Interpreting GPT: the Logit Lens",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=150), Budget(seeds=6, steps=1_500)),
)

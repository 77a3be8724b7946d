"""The verdicts of the exact claims; and negative controls: an experiment on something broken must notice it."""

from collections.abc import Callable, Sequence

import numpy
import pytest
import torch
from torch import Tensor

from pellucid.claims import Evidence, find_claims, run_claim
from pellucid.claims.ablations import WithoutResidual, without_residual
from pellucid.claims.attention import a01_attention_formula as a1
from pellucid.claims.attention import a02_rows_are_distributions as a2
from pellucid.claims.attention import a03_dimension_by_dimension as a3
from pellucid.claims.attention import a04_symmetric_scores as a4
from pellucid.claims.attention import a05_attending_to_itself as a5
from pellucid.claims.claim import Setup
from pellucid.claims.heads import h1_cost_of_heads as h1
from pellucid.claims.masks import k1_causal_mask as k1
from pellucid.claims.masks import k2_minus_infinity as k2
from pellucid.claims.masks import k4_padding as k4
from pellucid.claims.matrices import m1_shapes as m1
from pellucid.claims.matrices import m2_linear as m2
from pellucid.claims.matrices import m3_one_to_one as m3
from pellucid.claims.matrices import m4_rotate_stretch_rotate as m4
from pellucid.claims.matrices import m5_commutativity as m5
from pellucid.claims.matrices import m6_rank_and_eigenvalues as m6
from pellucid.claims.positions import p01_sinusoid_formula as p1
from pellucid.claims.positions import p02_unique_encodings as p2
from pellucid.claims.positions import p03_shift_is_a_rotation as p3
from pellucid.claims.positions import p04_dot_product_and_distance as p4
from pellucid.claims.positions import p05_four_parts_of_a_score as p5
from pellucid.claims.positions import p08_rotary_offsets as p8
from pellucid.claims.positions import p09_encodings_are_added as p9
from pellucid.claims.residual import r1_powers_of_a_factor as r1
from pellucid.claims.residual import r2_jacobian_plus_identity as r2
from pellucid.claims.residual import r3_gradient_at_the_bottom as r3
from pellucid.claims.residual import r4_factor_at_least_one as r4
from pellucid.claims.scaling import s1_variance_grows as s1
from pellucid.claims.scaling import s2_variance_after_scaling as s2
from pellucid.claims.scaling import s3_softmax_derivative as s3
from pellucid.claims.scaling import s4_softmax_example as s4
from pellucid.claims.scaling import s5_saturated_softmax as s5
from pellucid.claims.small_models import no_mask, small_translator
from pellucid.claims.training import t1_teacher_forcing as t1
from pellucid.claims.training import t4_cached_decoding as t4
from pellucid.claims.words import e01_lookup_is_one_hot_product as e1
from pellucid.claims.words import e02_cbow_is_a_centroid as e2
from pellucid.claims.words import e03_cbow_predicts_the_middle as e3
from pellucid.claims.words import e04_unbounded_scores as e4
from pellucid.claims.words import e07_gradient_of_used_rows as e7
from pellucid.claims.words import e09_ids_carry_no_meaning as e9
from pellucid.claims.words import e11_meaning_of_dimensions as e11
from pellucid.demo.micro_world import MicroStep, micro_step
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.score_decomposition import FOUR_PARTS, ScoreDecomposition
from pellucid.layers.attention import attend
from pellucid.layers.embeddings import TokenEmbedding
from pellucid.layers.positions import Rotary, sinusoids
from pellucid.layers.rotary import rotary_frequencies
from pellucid.layers.taps import Tap, keep
from pellucid.models.encoder_decoder import EncoderDecoder

SETUP = Setup(seed=1)
AXES = ("head", "query", "key")
KNOWN = {
    "E1": "holds", "E2": "holds", "E3": "holds", "E4": "holds-if", "E7": "holds-if", "E9": "holds", "E11": "refuted",
    "M1": "holds", "M2": "holds", "M3": "holds-if", "M4": "holds-if", "M5": "holds-if", "M6": "holds-if",
    "P1": "holds", "P2": "holds", "P3": "holds", "P4": "holds-if", "P8": "holds", "P9": "holds",
    "A1": "holds", "A2": "holds-if", "A3": "holds", "A4": "holds-if", "A5": "holds-if",
    "S1": "holds", "S2": "holds", "S3": "holds", "S4": "refuted", "S5": "holds",
    "H1": "holds-if", "R1": "holds", "R2": "holds-if", "R3": "holds", "R4": "refuted",
    "K1": "holds", "K2": "holds", "K4": "holds", "T1": "holds", "T4": "holds",
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_an_exact_claim_has_its_known_verdict(name: str) -> None:
    (claim,) = find_claims([name])
    outcome = run_claim(claim, quick=True)
    assert outcome.verdict == KNOWN[name], [(one.criterion.number, one.estimate.value) for one in outcome.judged]
    assert outcome.evidence is not None and outcome.evidence.records
    for record in outcome.evidence.records:
        assert {outcome.evidence.figure.x, outcome.evidence.figure.y} <= set(record)


def swapped(positions: Tensor, d: int) -> Tensor:
    """Encodings with sine and cosine swapped."""
    codes: Tensor = sinusoids(positions, d).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    return codes


def repeating(positions: Tensor, d: int) -> Tensor:
    return sinusoids(positions % 100, d)


def out_of_step(positions: Tensor, d: int) -> Tensor:
    """Encodings whose sine and cosine have different frequencies."""
    codes = sinusoids(positions, d)
    codes[:, 1::2] = sinusoids(2 * positions, d)[:, 1::2]
    return codes


def one_sided(positions: Tensor, d: int) -> Tensor:
    """Encodings of sines only: their products depend on the absolute position."""
    codes = sinusoids(positions, d)
    codes[:, 1::2] = 0
    return codes


def leaking(query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor, tap: Tap = keep) -> Tensor:
    """Attention that ignores the mask."""
    return attend(query, key, value, torch.ones_like(may_attend), tap)


def unnormalised(query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor, tap: Callable[..., Tensor]) -> Tensor:
    weights = tap("weights", (query @ key.transpose(-1, -2)).exp())
    return weights @ value


def mixed_value(query: Tensor, key: Tensor, value: Tensor, may_attend: Tensor, tap: object = None) -> Tensor:
    """Attention that mixes dimensions."""
    return attend(query, key, value + value.roll(1, -1), may_attend)


def twice_too_long(model: object, ids: Tensor, split: tuple[int, ...]) -> Tensor:
    """A cache that restarts positions at 0 for each piece."""
    from pellucid.models.decoder_only import DecoderOnly

    assert isinstance(model, DecoderOnly)
    return torch.cat([model(piece) for piece in ids.split(split, 1)], 1)


def normal_and_shear() -> list[numpy.ndarray]:
    return [numpy.array([[1.0, 1.0], [0.0, 1.0]])]


def by_squares(x: Tensor, positions: Tensor) -> Tensor:
    turned: Tensor = Rotary(rotary_frequencies(x.shape[-1], 10_000.0)).rotate(x, positions**2)
    return turned


class SeesTheFuture(torch.nn.Module):
    """An encoder–decoder that reads the whole target on its source side, without a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.real = small_translator(1)
        self.target_embedding = self.real.target_embedding

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        logits: Tensor = self.real(torch.cat((source, target), 1), target)
        return logits


def shifted(embedding: TokenEmbedding, ids: Tensor) -> Tensor:
    rows: Tensor = embedding((ids + 1) % embedding.weight.shape[0])
    return rows


def first_word_only(w_in: numpy.ndarray, w_out: numpy.ndarray, context: list[int], target: int) -> MicroStep:
    return micro_step(w_in, w_out, context[:1], target)


def equal_entries(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    return torch.randn(shape[0], 1, generator=random).expand(shape)


def flatter(scores: Sequence[float]) -> list[float]:
    return s4.softmax_float64([score * 9.2 / 90 for score in scores])


def negative_controls() -> dict[str, Callable[[], Evidence]]:
    rows = numpy.random.default_rng(1).standard_normal((60, 12))
    lossy = torch.zeros(32, 48, dtype=torch.float64)
    lossy[:16, :16] = torch.eye(16, dtype=torch.float64)
    asymmetric = torch.triu(torch.ones(32, 32))
    return {
        "E1 the next row": lambda: e1.measure(SETUP, shifted),
        "E2 the first word only": lambda: e2.measure(SETUP, first_word_only),
        "E3 every word in the middle": lambda: e3.measure(Setup(seeds=3, seed=1), ((0, 1, 2), (0, 0, 2), (0, 2, 2))),
        "E4 every word occurs": lambda: e4.measure(SETUP, ((0, 1), (0, 2), (0, 0))),
        "E7 tied": lambda: e7.measure(SETUP, tied=True),
        "E11 not orthogonal": lambda: e11.measure(Setup(size=1_500, seed=1), orthogonal=False),
        "M1 one vector changes all": lambda: m1.measure(SETUP, lambda x, w: (x - x.mean(0)) @ w),
        "M2 not linear": lambda: m2.measure(SETUP, {"W_Q": torch.relu}),
        "M3 not of full rank": lambda: m3.measure(SETUP, lossy),
        "M4 one rotation forgotten": lambda: m4.measure(
            SETUP, lambda matrix: m4.Parts(numpy.eye(len(matrix)), *numpy.linalg.svd(matrix)[1:])
        ),
        "M5 a product that commutes": lambda: m5.measure(SETUP, lambda a, b: a + b),
        "M6 not normal": lambda: m6.measure(SETUP, normal_and_shear(), rows),
        "P1 sine and cosine swapped": lambda: p1.measure(SETUP, swapped),
        "P2 encodings that repeat": lambda: p2.measure(SETUP, repeating),
        "P3 two frequencies in a pair": lambda: p3.measure(SETUP, out_of_step),
        "P4 sines alone": lambda: p4.measure(SETUP, one_sided),
        "P8 squares of positions": lambda: p8.measure(SETUP, by_squares),
        "P9 the sum is scaled": lambda: p9.measure(SETUP, scaled_sums()),
        "A1 the mask is forgotten": lambda: a1.measure(SETUP, leaking),
        "A2 nothing divides": lambda: a2.measure(SETUP, unnormalised),
        "A3 dimensions are mixed": lambda: a3.measure(SETUP, mixed_value),
        "A4 projected keys": lambda: a4.measure(SETUP, asymmetric),
        "A5 keys reversed": lambda: a5.measure(SETUP, keys_of=-torch.eye(8)),
        "S1 equal entries": lambda: s1.measure(SETUP, equal_entries),
        "S2 no scaling": lambda: s2.measure(SETUP, lambda q, k: (q * k).sum(1)),
        "S3 no Kronecker delta": lambda: s3.measure(SETUP, lambda s: -torch.outer(s, s)),
        "S4 a base that is flatter": lambda: s4.measure(SETUP, flatter),
        "S5 scaled both times": lambda: s5.measure(SETUP, exponent=0.0),
        "H1 heads of full width": lambda: h1.measure(SETUP, (8, 512)),
        "R1 ninety layers": lambda: r1.measure(SETUP, 90),
        "R2 without the sum": lambda: r2.measure(SETUP, WithoutResidual),
        "R3 without the sum": lambda: r3.measure(Setup(seeds=3, seed=1), without_residual),
        "R4 a part that only adds": lambda: r4.measure(SETUP, {"block": 2 * torch.eye(32)}),
        "K1 no mask": lambda: k1.measure(SETUP, no_mask(8)),
        "K2 zeroed afterwards": lambda: k2.measure(SETUP, k2.zeroed_after),
        "K4 padding is a token": lambda: k4.measure(SETUP, pad_id=-1),
        "T1 the target leaks": lambda: t1.measure(SETUP, SeesTheFuture()),  # type: ignore[arg-type]
        "T4 positions restarted": lambda: t4.measure(SETUP, with_cache=twice_too_long),
    }  # fmt: skip


def scaled_sums() -> dict[str, EncoderDecoder]:
    """Models that scale the sum of embedding and encoding."""
    models: dict[str, EncoderDecoder] = {}
    for name in ("scaled by √d", "not scaled"):
        model = small_translator(1, positions="sinusoidal", cross_positions="none")
        model.embedding_dropout = torch.nn.Hardtanh(-0.1, 0.1)  # type: ignore[assignment]  # stands for any scaling
        models[name] = model
    return models


@pytest.mark.parametrize("name", negative_controls())
def test_a_broken_part_is_detected(name: str) -> None:
    (claim,) = find_claims([name.split()[0]])
    verdict = claim.rule.judge(negative_controls()[name]().numbers).verdict
    assert verdict != KNOWN[claim.id], name


def test_ids_that_encode_the_classes_are_detected() -> None:
    from pellucid.claims.demo_text import noun_uses

    (claim,) = find_claims(["E9"])
    # Ids in the order of the words that nouns occur with: near ids are used alike.
    ordered = sorted(noun_uses(), key=lambda noun: sorted(noun_uses()[noun]))
    told = e9.measure(SETUP, {noun: place for place, noun in enumerate(ordered)})
    assert claim.rule.judge(told.numbers).verdict != KNOWN["E9"]


def split_of(scores: numpy.ndarray, *parts: numpy.ndarray) -> ScoreDecomposition:
    axes = tuple(Axis(name, tuple(map(str, range(n)))) for name, n in zip(AXES, scores.shape, strict=True))
    labelled = [LabelledArray("scores", values, axes, "nats", "") for values in (scores, *parts)]
    return ScoreDecomposition(dict(zip(FOUR_PARTS, labelled[1:], strict=True)), labelled[0], "")


def test_a_missing_part_of_a_score_is_detected() -> None:
    (claim,) = find_claims(["P5"])
    parts = list(numpy.random.default_rng(1).standard_normal((4, 2, 5, 5)))
    whole = sum(parts, numpy.zeros((2, 5, 5)))
    assert claim.rule.judge(p5.measure(SETUP, [split_of(whole, *parts)]).numbers).verdict == "holds"
    for n in range(4):
        without = [numpy.zeros_like(part) if place == n else part for place, part in enumerate(parts)]
        assert claim.rule.judge(p5.measure(SETUP, [split_of(whole, *without)]).numbers).verdict == "refuted"


def test_every_exact_claim_has_a_negative_control() -> None:
    assert {name.split()[0] for name in negative_controls()} | {"E9"} == set(KNOWN)


def test_chance_keeps_the_variance_within_its_thresholds() -> None:
    # One-dimensional vectors, where chance matters most.
    for seed in range(1, 11):
        for name in ("S1", "S2"):
            first = s1.score_variances(seed, name, s1.paired_scores)[0]
            assert abs(first.value - 1) < 0.05 and first.high - first.value < 0.08


def test_the_effective_rank_is_computed_from_normalized_singular_values() -> None:
    found = m6.measure(SETUP, [], numpy.diag([3.0, 1.0])).numbers["effective_rank_of_w_in"].value
    assert found == pytest.approx(numpy.exp(-(0.75 * numpy.log(0.75) + 0.25 * numpy.log(0.25))))

"""The search against plain twins: a greedy loop, all translations there are, sentences one by one."""

import itertools
import math
from typing import get_args

import pytest
import torch

from pellucid.generation.beam import Hypothesis, beam_search
from pellucid.generation.constraints import SpecialTokens
from pellucid.generation.generation_config import GenerationConfig
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

SYMBOLS = SpecialTokens(pad_id=0, start_id=1, end_id=2)
POSITIONS = get_args(PositionScheme)


def tiny_model(seed: int = 0, vocab_size: int = 12, sharpness: float = 3.0, positions: str = "rope") -> EncoderDecoder:
    """Return a random model whose outputs are sharp enough to be told apart."""
    torch.manual_seed(seed)
    config = EncoderDecoderConfig.model_validate(
        {"d_model": 16, "n_heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 2, "positions": positions}
    )
    model = EncoderDecoder(config, vocab_size, vocab_size, pad_id=0).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=2 * weight.shape[-1] ** -0.5)
        model.target_embedding.weight.mul_(sharpness)
    return model


def sources(count: int, seed: int = 0, vocab_size: int = 12) -> list[list[int]]:
    random = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 9, (count,), generator=random).tolist()
    return [[*torch.randint(3, vocab_size, (length,), generator=random).tolist(), 2] for length in lengths]


@torch.inference_mode()
def score_tokens(model: EncoderDecoder, source: list[int], target: tuple[int, ...]) -> list[float]:
    """Score a whole target by teacher forcing: no cache, no batch, no search."""
    logits = model(torch.tensor([source]), torch.tensor([[1, *target]])[:, : len(target)])
    return torch.log_softmax(logits[0], -1).gather(1, torch.tensor(target)[:, None])[:, 0].tolist()


@torch.inference_mode()
def totals(
    model: EncoderDecoder, source: list[int], targets: list[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], float]]:
    """Return the log-probability of each whole target, its end included."""
    longest = max(map(len, targets)) + 1
    wanted = torch.tensor([[*target, 2, *[0] * (longest - len(target) - 1)] for target in targets])
    given = torch.cat((torch.ones(len(targets), 1, dtype=torch.int64), wanted[:, :-1]), dim=1)
    logits = model(torch.tensor([source]).expand(len(targets), -1), given)
    log_probs = torch.log_softmax(logits, -1).gather(2, wanted[:, :, None])[:, :, 0]
    return list(zip(targets, log_probs.masked_fill(wanted == 0, 0.0).sum(1).tolist(), strict=True))


@torch.inference_mode()
def greedy(model: EncoderDecoder, source: list[int], longest: int) -> tuple[int, ...]:
    """Take the most probable token again and again, running the whole model each time."""
    ids: list[int] = []
    while len(ids) < longest:
        logits = model(torch.tensor([source]), torch.tensor([[1, *ids]]))[0, -1]
        logits[[0, 1]] = -math.inf
        token = int(logits.argmax())
        if token == 2:
            break
        ids.append(token)
    return tuple(ids)


def search(model: EncoderDecoder, batch: list[list[int]], **settings: float) -> list[list[Hypothesis]]:
    short = {"max_length_ratio": 0, "max_length_extra": 8}  # random models seldom end by themselves
    return beam_search(model, batch, SYMBOLS, GenerationConfig.model_validate(short | settings))


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_beam_of_one_is_greedy_search(positions: str) -> None:
    model = tiny_model(positions=positions)
    batch = sources(8)
    found = search(model, batch, beam=1, max_length_ratio=0, max_length_extra=6)
    twins = [greedy(model, source, 6) for source in batch]
    assert [n_best[0].ids for n_best in found] == twins
    assert positions != "rope" or len(set(twins)) > 1


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("positions", POSITIONS)
def test_token_log_probabilities_are_those_of_teacher_forcing(positions: str, beam: int) -> None:
    model = tiny_model(1, positions=positions)
    batch = sources(5)
    for source, n_best in zip(batch, search(model, batch, beam=beam, n_best=beam), strict=True):
        for hypothesis in n_best:
            target = (*hypothesis.ids, 2) if hypothesis.ended else hypothesis.ids
            assert hypothesis.token_log_probs == pytest.approx(score_tokens(model, source, target), abs=1e-4)
            assert hypothesis.score == pytest.approx(hypothesis.log_prob / len(target), abs=1e-5)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
def test_a_beam_wide_enough_finds_the_best_of_all_translations(length_penalty: float) -> None:
    model = tiny_model(1, vocab_size=6, sharpness=1.0)
    batch = sources(3, 1, vocab_size=6)
    longest = 3
    everything = [ids for n in range(longest + 1) for ids in itertools.product([3, 4, 5], repeat=n)]
    beam = 4 * 3**longest  # all continuations of the longest, and all their ends
    settings = {"beam": beam, "n_best": 5, "length_penalty": length_penalty, "max_length_extra": longest}
    for source, n_best in zip(batch, search(model, batch, max_length_ratio=0, **settings), strict=True):
        scores = {ids: total / (len(ids) + 1) ** length_penalty for ids, total in totals(model, source, everything)}
        best = sorted(scores, key=lambda ids: -scores[ids])[:5]
        assert [hypothesis.ids for hypothesis in n_best] == best
        assert [hypothesis.score for hypothesis in n_best] == pytest.approx([scores[ids] for ids in best], abs=1e-4)


def test_stopping_early_changes_nothing() -> None:
    """With α = 0 the bound is tight and stops the search long before `beam` hypotheses have ended."""
    model = tiny_model(3)
    batch = sources(12, 3)
    for n_best, source in zip(search(model, batch, beam=4, length_penalty=0.0), batch, strict=True):
        assert n_best[0].ids == search(model, [source], beam=4, n_best=4, length_penalty=0.0)[0][0].ids


def test_n_best_are_sorted_and_distinct() -> None:
    model = tiny_model(2)
    for n_best in search(model, sources(10, 1), beam=6, n_best=6):
        ended = [hypothesis.score for hypothesis in n_best if hypothesis.ended]
        assert ended == sorted(ended, reverse=True)
        assert [hypothesis.ended for hypothesis in n_best] == sorted((h.ended for h in n_best), reverse=True)
        assert len({hypothesis.ids for hypothesis in n_best}) == len(n_best)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("positions", POSITIONS)
def test_neighbours_in_the_batch_change_nothing(positions: str, beam: int) -> None:
    model = tiny_model(4, positions=positions)
    batch = sources(9, 5)
    alone = [search(model, [source], beam=beam)[0][0] for source in batch]
    for size in (2, 5, 9):
        together = [h for start in range(0, 9, size) for h in search(model, batch[start : start + size], beam=beam)]
        assert [n_best[0].ids for n_best in together] == [hypothesis.ids for hypothesis in alone]
        assert [n_best[0].score for n_best in together] == pytest.approx([h.score for h in alone], abs=1e-5)
    backwards = search(model, batch[::-1], beam=beam)[::-1]
    assert [n_best[0].ids for n_best in backwards] == [hypothesis.ids for hypothesis in alone]


def test_a_prefix_begins_the_translation_and_counts_in_its_score() -> None:
    model = tiny_model(5)
    batch = sources(6, 2)
    prefixes = [[3, 4], [], [7], [9, 9, 9, 9], [5], []]
    config = GenerationConfig(beam=3, n_best=3, max_length_ratio=0, max_length_extra=8)
    plain = search(model, batch, beam=3, n_best=3)
    forced = beam_search(model, batch, SYMBOLS, config, prefixes)
    for source, prefix, n_best, free in zip(batch, prefixes, forced, plain, strict=True):
        assert all(list(hypothesis.ids[: len(prefix)]) == prefix for hypothesis in n_best)
        target = (*n_best[0].ids, 2) if n_best[0].ended else n_best[0].ids
        assert n_best[0].log_prob == pytest.approx(sum(score_tokens(model, source, target)), abs=1e-4)
        if not prefix:
            assert [h.ids for h in n_best] == [h.ids for h in free]


@pytest.mark.parametrize("beam", [1, 4])
def test_lengths_keep_within_their_limits(beam: int) -> None:
    model = tiny_model(6)
    batch = sources(10, 3)
    for n_best in search(model, batch, beam=beam, min_length=5, max_length_ratio=0, max_length_extra=7):
        assert 5 <= len(n_best[0].ids) <= 7
    for source, n_best in zip(
        batch, search(model, batch, beam=beam, max_length_ratio=1, max_length_extra=1), strict=True
    ):
        assert len(n_best[0].ids) <= len(source) - 1 + 1
        assert n_best[0].ended or len(n_best[0].ids) == len(source)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_ngram_occurs_twice(n: int) -> None:
    model = tiny_model(7)
    loops = 0
    for free, n_best in zip(
        search(model, sources(10), beam=2), search(model, sources(10), beam=2, n_best=2, no_repeat_ngram=n), strict=True
    ):
        loops += len(set(free[0].ids)) < len(free[0].ids)
        for hypothesis in n_best:
            ngrams = [hypothesis.ids[i : i + n] for i in range(len(hypothesis.ids) - n + 1)]
            assert len(ngrams) == len(set(ngrams))
    assert loops, "without the limit nothing repeats: the test shows nothing"


def test_something_comes_back_when_everything_is_forbidden() -> None:
    model = tiny_model(8, vocab_size=6)
    [n_best] = search(model, [[3, 4, 2]], beam=2, min_length=9, no_repeat_ngram=1)
    assert sorted(n_best[0].ids) == [3, 4, 5]
    assert not n_best[0].ended


def test_control_ids_are_never_generated() -> None:
    model = tiny_model(9, sharpness=0.1)
    for n_best in search(model, sources(10), beam=5, n_best=5):
        assert all(not {0, 1, 2} & set(hypothesis.ids) for hypothesis in n_best)


def test_placeholders_come_at_most_as_often_as_in_the_source() -> None:
    model = tiny_model(10, sharpness=0.3)
    special_tokens = SpecialTokens(0, 1, 2, placeholder_ids=(3, 4))
    batch = [[3, 7, 8, 2], [4, 4, 9, 2], [7, 8, 2], [3, 4, 2]]
    found = beam_search(
        model, batch, special_tokens, GenerationConfig(beam=5, n_best=5, min_length=8, max_length_ratio=0)
    )
    for source, n_best in zip(batch, found, strict=True):
        for hypothesis in n_best:
            assert hypothesis.ids.count(3) <= source.count(3)
            assert hypothesis.ids.count(4) <= source.count(4)


def test_a_model_with_learned_positions_stops_at_its_last() -> None:
    model = tiny_model(11, positions="learned")
    short = EncoderDecoder(model.config.model_copy(update={"learned_positions": 6}), 12, 12, 0).eval()
    for n_best in search(short, [[5, 6, 7, 2], [8, 2]], beam=3, min_length=99):
        assert len(n_best[0].ids) == 5
        assert not n_best[0].ended

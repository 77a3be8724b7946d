import math
from typing import Any, get_args

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.generation.continuation import ContextWindow, Continuation, run_continuations
from pellucid.generation.decoder import ModelDecoder, SingleSequenceDecoder
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.generation.text_score import ScoringInput, windows
from pellucid.language_model import LanguageModel
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.decoder_only import DecoderOnly
from tests.generation.small_language_model import small_language_model

PROMPTS = ["The cat ate", "", "Der Hund schläft. 12 Katzen!", "猫"]


@pytest.fixture
def model() -> LanguageModel:
    return small_language_model()


def log_probs(model: DecoderOnly, ids: list[int]) -> torch.Tensor:
    """Return what the model says after each id, in one pass without a cache."""
    with torch.inference_mode():
        found: torch.Tensor = model(torch.tensor([ids])).log_softmax(-1)[0]
        return found


def test_the_same_seed_gives_the_same_text_and_it_is_told(model: LanguageModel) -> None:
    first = model.generate("The cat", seed=7)
    assert model.generate("The cat", seed=7) == first
    assert model.generate("The cat", seed=8).text != first.text
    one, other = (small_language_model().generate("The cat", seed=seed) for seed in (None, None))
    assert one.seed == other.seed == 1  # of the model's settings
    unseeded = LanguageModel(model.model, model.tokenizer, SamplingConfig(tokens=8))
    drawn = unseeded.generate("The cat")
    assert unseeded.generate("The cat", seed=drawn.seed) == drawn


def test_a_stream_is_the_generated_text_in_parts(model: LanguageModel) -> None:
    stream = model.stream("The cat", tokens=20)
    before = stream.generation
    parts = list(stream)
    assert before is None
    assert all(parts)
    assert "".join(parts) == model.generate("The cat", tokens=20).text
    assert stream.generation == model.generate("The cat", tokens=20)
    with pytest.raises(UserError, match="only one sample"):
        model.stream("The cat", samples=2)


def test_streams_do_not_disturb_each_other(model: LanguageModel) -> None:
    one, other = model.stream("The cat"), model.stream("猫", seed=5)
    shown = [next(one)]
    model.generate("Hund")
    shown.append(next(other))
    assert shown[0] + "".join(one) == model.generate("The cat").text
    assert shown[1] + "".join(other) == model.generate("猫", seed=5).text


def test_samples_are_each_drawn_for_themselves(model: LanguageModel) -> None:
    found = model.generate("The cat", samples=3)
    assert len({sample.text for sample in found.samples}) == 3
    assert found.text == found.samples[0].text == model.generate("The cat").text
    assert [one["text"] for one in found.as_dict()["samples"]] == [sample.text for sample in found.samples]


def test_tokens_carry_the_models_probability_and_that_of_the_draw(model: LanguageModel) -> None:
    settings: dict[str, Any] = {"temperature": 0.7, "top_k": 9, "alternatives": 3, "seed": 3}
    found = model.generate("The cat", **settings)
    prompt = model.prompt_ids("The cat")
    said = log_probs(model.model, [*prompt, *(token.id for token in found.tokens)])[len(prompt) - 1 : -1]
    for token, row in zip(found.tokens, said, strict=True):
        assert token.log_prob == pytest.approx(float(row[token.id]), abs=1e-4)
        best = row.topk(3)
        assert [one.id for one in token.alternatives] == best.indices.tolist()
        assert [one.log_prob for one in token.alternatives] == pytest.approx(best.values.tolist(), abs=1e-4)
        assert -math.inf < token.sampling_log_prob <= 0
        assert token.id in best.indices or token.log_prob <= token.alternatives[-1].log_prob
    assert found.log_prob == pytest.approx(sum(token.log_prob for token in found.tokens))
    shown = found.as_dict()["tokens"][0]
    assert set(shown) == {"id", "text", "log_prob", "sampling_log_prob", "alternatives"}


def test_greedy_takes_the_models_best_that_is_text(model: LanguageModel) -> None:
    found = model.generate("The cat", temperature=0)
    assert [token.sampling_log_prob for token in found.tokens] == [0.0] * len(found.tokens)
    assert (
        found.text == model.generate("The cat", temperature=0, seed=99).text == model.generate("The cat", top_k=1).text
    )


def with_end_bias(model: LanguageModel, bias: float) -> LanguageModel:
    """Return the model with a decoder that finds the end more probable."""

    class Biased(ModelDecoder):
        def _logits(self, states: Any) -> Any:
            logits = super()._logits(states).copy()
            logits[:, model.tokenizer.end_id] += bias
            return logits

    return LanguageModel(model.model, model.tokenizer, model.config, make_decoder=lambda: Biased(model.model))


def test_the_model_may_end_the_text(model: LanguageModel) -> None:
    found = with_end_bias(model, 1e4).generate("The cat")
    assert (found.text, found.finish_reason, [token.text for token in found.tokens]) == ("", "end", ["⟨end⟩"])


def test_the_end_cannot_come_within_a_character(model: LanguageModel) -> None:
    found = with_end_bias(model, 2).generate("The cat", samples=40, tokens=20, temperature=1.5).samples
    assert {one.finish_reason for one in found} == {"end", "length"}
    assert any(len(one.text) < len(one.text.encode()) for one in found if one.finish_reason == "end")
    for one in found:
        assert one.finish_reason == "length" or not any(
            notice.kind == "incomplete_character" for notice in one.warnings
        )
        assert "\ufffd" not in one.text


def test_the_end_is_never_penalised(model: LanguageModel) -> None:
    (end,) = model.tokenizer.end_ids
    prompt = [1, end, 300]
    config = model.settings(repetition_penalty=1e3, temperature=0)

    class Fixed(SingleSequenceDecoder):
        def prefill(self, prompts: Any) -> Any:
            logits = numpy.full((1, model.model.vocab_size), -50.0, dtype=numpy.float32)
            logits[0, [end, 300, 301]] = 3.0, 4.0, 2.0
            return logits

    one = Continuation(prompt, config, model.vocabulary, model.window, numpy.random.default_rng(1))
    list(run_continuations(Fixed(None), [one]))  # type: ignore[arg-type]
    assert one.finish_reason == "end"


def test_a_stop_string_is_found_across_tokens_and_left_out(model: LanguageModel) -> None:
    whole = model.generate("The cat", tokens=24)
    stop = whole.text[3:6]
    found = model.generate("The cat", tokens=24, stop=[stop, "never there"])
    assert (found.finish_reason, found.stop) == ("stop", stop)
    assert found.text == whole.text[: whole.text.index(stop)]
    assert [token.id for token in found.tokens] == [token.id for token in whole.tokens[: len(found.tokens)]]
    assert "".join(model.stream("The cat", tokens=24, stop=stop)) == found.text


@pytest.mark.parametrize("positions", get_args(PositionScheme))
def test_a_window_that_slides_gives_what_reading_it_anew_gives(positions: str) -> None:
    model = small_language_model(positions=positions, max_positions=8)
    found = model.generate("The cat", tokens=30, sliding=True, temperature=0)
    assert (len(found.tokens), found.finish_reason) == (30, "length")
    assert "sliding" in {notice.kind for notice in found.warnings}
    ids = model.prompt_ids("The cat")
    for token in found.tokens:
        seen = ids[ContextWindow(8, 0).dropped_tokens(len(ids)) :]
        assert len(seen) <= 8
        assert token.log_prob == pytest.approx(float(log_probs(model.model, seen)[-1][token.id]), abs=1e-4)
        ids.append(token.id)


def test_the_context_ends_the_text_and_says_so(model: LanguageModel) -> None:
    prompt = model.prompt_ids("The cat")
    found = model.generate("The cat", tokens=1000)
    assert found.finish_reason == "context"
    assert len(found.tokens) == 32 - len(prompt) + 1  # the last one is predicted, not read
    assert [notice.kind for notice in found.warnings if notice.kind == "context"]


@pytest.mark.parametrize("sliding", [False, True])
def test_a_text_that_just_fills_the_context_has_been_seen_whole(model: LanguageModel, sliding: bool) -> None:
    fits = 32 - len(model.prompt_ids("The cat")) + 1
    found = model.generate("The cat", tokens=fits, sliding=sliding)
    assert (
        found.finish_reason,
        [notice.kind for notice in found.warnings if notice.kind in ("sliding", "context")],
    ) == (
        "length",
        [],
    )
    longer = model.generate("The cat", tokens=fits + 1, sliding=True)
    assert "sliding" in {notice.kind for notice in longer.warnings}


def test_a_prompt_longer_than_the_context_is_an_error_unless_the_window_slides(model: LanguageModel) -> None:
    long = "The cat ate three fish yesterday. " * 9
    tokens = len(model.prompt_ids(long))
    with pytest.raises(UserError, match=f"the prompt has {tokens} tokens, but the model reads 32 at once") as caught:
        model.generate(["Hund", long])
    assert "sliding" in caught.value.hint
    assert model.generate(long, sliding=True, tokens=3).finish_reason == "length"


def test_settings_that_do_not_fit_are_told(model: LanguageModel) -> None:
    with pytest.raises(UserError, match="temperature"):
        model.generate("a", temperature=-1)
    with pytest.raises(UserError, match="tempeature") as caught:
        model.generate("a", tempeature=1)
    assert "temperature" in caught.value.hint
    with pytest.raises(UserError, match="stop"):
        model.generate("a", stop=[""])
    with pytest.raises(UserError, match="expected a text"):
        model.generate([b"a"])  # type: ignore[list-item]


def test_a_decoder_of_one_sequence_gives_the_same(model: LanguageModel) -> None:
    class Plain:
        """The least a decoder has to be: reads everything anew at every step."""

        def prefill(self, ids: Any) -> Any:
            self.ids = list(ids)
            return log_probs(model.model, self.ids)[-1].numpy()

        def step(self, number: int) -> Any:
            return self.prefill([*self.ids, number])

    plain = LanguageModel(
        model.model, model.tokenizer, model.config, make_decoder=lambda: SingleSequenceDecoder(Plain())
    )
    found = plain.generate(PROMPTS, samples=2)
    assert [one.text for one in found] == [one.text for one in model.generate(PROMPTS, samples=2)]


def test_loops_are_told(model: LanguageModel) -> None:
    found = model.generate("The cat", repetition_penalty=1e-3, temperature=0, tokens=20)
    assert any(
        notice.kind == "repetition" and notice.message.startswith("the text repeats") for notice in found.warnings
    )


def test_progress_counts_the_tokens(model: LanguageModel) -> None:
    pluralize: list[int] = []
    found = model.generate(PROMPTS, on_progress=pluralize.append)
    assert sum(pluralize) == sum(len(one.tokens) for one in found)


def test_a_model_without_a_template_does_not_converse(model: LanguageModel) -> None:
    with pytest.raises(UserError, match="cannot chat"):
        model.chat([{"role": "user", "content": "hello"}])


@pytest.mark.parametrize("kept", [0, 1])
def test_a_sliding_window_shows_between_half_a_context_and_a_whole_one(kept: int) -> None:
    for context in range(2, 20):
        window = ContextWindow(context, kept)
        seen = [length - window.dropped_tokens(length) for length in range(1, 100)]
        assert seen[:context] == list(range(1, context + 1))
        assert all(context // 2 < count <= context for count in seen[context:])


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("stride", [1, 3, 7])
@pytest.mark.parametrize("first", [1, 5, 12])
def test_windows_score_each_token_once_with_enough_before_it(first: int, stride: int, kept: int) -> None:
    ids, context = list(range(100, 130)), 8
    scored: list[int] = []
    for seen, wanted in windows(ScoringInput(ids, first), ContextWindow(context, kept), stride):
        assert len(seen) <= context
        assert not kept or seen[0] == ids[0]
        for back, number in enumerate(reversed(wanted)):
            before = seen[: len(seen) - back]
            assert before[-1] == number - 1
            full = number - ids[0]
            assert len(before) >= min(full, context - stride + 1)
        scored += wanted
    assert scored == ids[first:]


@pytest.mark.parametrize("wrong", [5, None, b"x", ["a", 5]])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    model = small_language_model()
    for ask in (model.generate, model.stream, model.score):
        with pytest.raises(UserError, match=r"expected .*text"):
            ask(wrong)

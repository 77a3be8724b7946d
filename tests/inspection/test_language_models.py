"""Language models are looked into as translators are."""

from typing import Any, get_args

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.checks import InexactError, decoder_difference
from pellucid.inspection.encoding import encode_text
from pellucid.inspection.look_at import look_by_step
from pellucid.inspection.residual_decomposition import direct_logit_attribution
from pellucid.inspection.residual_streams import effective_rank, token_identity
from pellucid.inspection.score_decomposition import decompose_scores
from pellucid.inspection.views.pages import render_look
from pellucid.language_model import LanguageModel
from pellucid.layers.position_scheme import PositionScheme
from tests.generation.small_language_model import imported_language_model, small_language_model

TEXT = "The cat ate 水"

SHAPES: dict[str, dict[str, Any]] = {
    "llama": {},
    "qwen": {"qk_norm": True, "qkv_bias": True, "n_kv_heads": 1, "d_head": 12, "tie_embeddings": False},
    "gpt": {"positions": "learned", "norm": "layernorm", "activation": "gelu_tanh", "bias": True},
    "sinusoidal, head norms": {"positions": "sinusoidal", "qk_norm": True, "bias": True, "norm": "layernorm"},
    "alibi, post": {"positions": "alibi", "norm_placement": "post", "norm": "layernorm", "bias": True},
}
UNPAIRED = set(get_args(PositionScheme)) - {shape.get("positions", "rope") for shape in SHAPES.values()}
SHAPES |= {scheme: {"positions": scheme} for scheme in sorted(UNPAIRED)}


@pytest.fixture(params=list(SHAPES))
def model(request: pytest.FixtureRequest) -> LanguageModel:
    return small_language_model(**SHAPES[request.param])


def test_every_promise_is_kept(model: LanguageModel) -> None:
    look = model.look(TEXT)
    checks = {check.name: check.error for check in look.check()}
    unchecked = {name for name, error in checks.items() if error is None}
    assert unchecked <= {"parts of a score add up to it"}
    assert not look.source
    assert look.tokens == look.target
    assert [token.display for token in look.next_tokens] == [token.display for token in look.target[1:]]


def test_parts_add_up(model: LanguageModel) -> None:
    look = model.look(TEXT)
    next_tokens = list(look.encoded.next_tokens)
    own = look.logits.values[numpy.arange(len(next_tokens)), next_tokens]
    numpy.testing.assert_allclose(direct_logit_attribution(look).values.sum(0), own, atol=2e-4)
    if model.model.config.positions in ("learned", "sinusoidal"):
        assert decompose_scores(look, "decoder.0.self_attention").error < 1e-4
        assert look.decoder[0].heads[1].scores.position_position.shape == (len(look.target),) * 2


def test_a_batch_gives_what_each_gives_alone(model: LanguageModel) -> None:
    texts = [TEXT, "Hi", "Der Hund"]
    for look, text in zip(model.look(texts), texts, strict=True):
        alone = model.look(text)
        for name in alone.names:
            numpy.testing.assert_allclose(look[name].values, alone[name].values, atol=2e-5, rtol=2e-5, err_msg=name)


def test_step_by_step_is_the_whole(model: LanguageModel) -> None:
    whole, steps = look_by_step(model, encode_text(model, TEXT))
    look = model.look(TEXT)
    for name in look.names:
        made = numpy.isfinite(whole[name].values)
        numpy.testing.assert_allclose(whole[name].values[made], look[name].values[made], atol=2e-5, err_msg=name)
    assert steps[1]["decoder.0.self_attention.weights"].shape == (2, 1, 2)


def test_what_it_goes_on_with_is_looked_at_too() -> None:
    model = small_language_model()
    look = model.look(TEXT, tokens=4)
    assert [token.id for token in look.target[-4:]] == [
        t.id for t in model.generate(TEXT, tokens=4, temperature=0).tokens
    ]


def test_a_future_token_never_changes_the_past(model: LanguageModel) -> None:
    plain = model.what_if(TEXT)
    effect = plain.replace_token(-1, plain.edited.target[0]).run()
    assert numpy.array_equal(effect.after.logits.values[:-1], effect.before.logits.values[:-1])
    assert effect["logits"].values[-1].any()


def test_edits_reach_a_language_model(model: LanguageModel) -> None:
    masked = model.what_if(TEXT).mask_token(1).run().after
    assert not masked["decoder.1.self_attention.weights"].values[..., 1].any()
    dropped = model.what_if(TEXT).ablate_head("decoder.0.self_attention", 1).run()
    assert dropped.change != 0
    assert dropped.text_before is not None
    with pytest.raises(UserError, match="no source"):
        model.what_if(TEXT).edit_source("a")


def test_bytes_of_an_imported_tokenizer_are_whole() -> None:
    look = imported_language_model().look(TEXT)
    assert b"".join(token.bytes for token in look.target).decode("utf-8") == TEXT
    assert look.target[0].special
    assert "水" in look.target[-1].display


def test_the_decoder_that_generates_is_compared(model: LanguageModel) -> None:
    found = decoder_difference(model, model.look(TEXT))
    assert found.largest < 1e-3
    assert found.same_choice == 1


def test_beyond_learned_positions_is_said() -> None:
    with pytest.raises(UserError, match="context 32"):
        small_language_model(**SHAPES["gpt"]).look("x y " * 40)
    long = small_language_model().look("x y " * 40, what=["logits"])
    assert "was not trained on texts of this length" in long.encoded.notes[0]
    assert torch.from_numpy(long.logits.values).isfinite().all()


@pytest.mark.parametrize("positions", get_args(PositionScheme))
def test_a_look_stitched_together_from_steps_keeps_its_promises(positions: str) -> None:
    model = small_language_model(positions=positions)
    whole, _ = look_by_step(model, encode_text(model, "The cat ate"))
    checks = whole.check()
    assert all(check.passed for check in checks)
    assert any(check.name.startswith("scores are") and check.error is not None for check in checks)
    scores = whole["decoder.1.self_attention.scores"].values
    scores[0, 2, 1] = numpy.nan  # not a key to come: this one must be there
    with pytest.raises(InexactError):
        whole.check()


def test_streams_are_read_of_the_only_stack_there_is() -> None:
    look = small_language_model().look("The cat ate")
    assert effective_rank(look).name.startswith("decoder.")
    assert token_identity(look).cosine.name.startswith("decoder.")


@pytest.mark.parametrize("text", [None, 3, [3], b"cat"])
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(UserError, match="expected a text or a list of texts"):
        small_language_model().look(text)


def test_a_page_calls_its_text_a_text() -> None:
    page = render_look(small_language_model().look("The cat"), [])
    assert "<b>text</b>" in page
    assert "<b>target</b>" not in page

"""L2: text is streamed while tokens are parts of characters. Elsewhere `�` flashes, or stays in the text."""

import pytest

from pellucid.language_model import LanguageModel
from tests.generation.small_language_model import imported_language_model, small_language_model

MODELS = {"own": small_language_model, "imported": imported_language_model}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> LanguageModel:
    return MODELS[request.param]()


@pytest.mark.parametrize("prompt", ["Seán 水🤗", "", "The cat"])
def test_what_streams_is_whole_characters_and_never_taken_back(model: LanguageModel, prompt: str) -> None:
    shown = set[str]()
    for seed in range(6):
        stream = model.stream(prompt, tokens=20, seed=seed, temperature=2.0)
        parts = list(stream)
        assert stream.generation is not None
        assert stream.generation.text == "".join(parts)
        assert "\ufffd" not in stream.generation.text
        shown |= set("".join(parts))
    assert any(len(character.encode()) > 1 for character in shown)  # made of several tokens: the vocabularies have few


def test_the_tokens_bytes_are_the_text_and_what_is_withheld(model: LanguageModel) -> None:
    found = model.generate("The cat", samples=40, tokens=9, temperature=2.0).samples
    cut = 0
    for sample in found:
        data = b"".join(model.tokenizer.id_to_bytes(token.id) for token in sample.tokens)
        rest = data.removeprefix(sample.text.encode())
        assert len(rest) == len(data) - len(sample.text.encode())
        notices = [notice.message for notice in sample.warnings if notice.kind == "incomplete_character"]
        assert notices == ([f"the text ended within a character; withheld: {rest.hex(' ').upper()}"] if rest else [])
        cut += bool(rest)
    assert cut


def test_pieces_of_characters_are_shown_with_the_character_they_became(model: LanguageModel) -> None:
    found = model.generate("水", samples=40, tokens=12, temperature=2.0).samples
    displays = [token.text for sample in found for token in sample.tokens if sample.text]
    assert not any("\ufffd" in display for display in displays)
    seen = 0
    for sample in found:
        for character in sample.text:
            if ord(character) > 0xFF and character.isprintable():
                assert any(character in token.text for token in sample.tokens)
                seen += 1
    assert seen

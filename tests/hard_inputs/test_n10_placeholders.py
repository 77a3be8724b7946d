"""N10: placeholders come out byte for byte, tags balanced, whether the model has learnt to copy them or not."""

import pytest

from pellucid.generation.placeholders import protect, unbalanced_tags
from pellucid.translator import Translator
from tests.generation.small_translator import small_translator

TEXTS = [
    "The cat ate {{person.name}} yesterday.",
    "###T01### The cat ###T02###",
    "%s of %1$d fish",
    "<b>x</b>",
    "<p>The <i>cat</i> ate <b>three <u>fish</u></b></p>",
    "{{person.name}}",
    "那只{{name}}昨天吃了<b>三条</b>鱼。",
    "<b>The cat ate. Der Hund schläft.</b>",
    " ".join(f"{{{n}}}" for n in range(25)) + " cat",
    "<s>The cat</s>",
]


@pytest.fixture(scope="module", params=[True, False])
def translator(request: pytest.FixtureRequest) -> Translator:
    return small_translator(copies_placeholders=request.param)


@pytest.mark.parametrize("text", TEXTS)
def test_every_placeholder_is_kept_and_tags_stay_balanced(translator: Translator, text: str) -> None:
    found = translator.translate(text, n_best=2)
    before = protect(text)
    for one in found.n_best[:1]:
        after = protect(one.text)
        assert sorted(after.values) == sorted(before.values)
        assert unbalanced_tags(*after) == unbalanced_tags(*before) == []
        for value in before.values:
            assert one.text.count(value) == text.count(value)


def test_a_text_of_placeholders_alone_is_left_as_it_is(translator: Translator) -> None:
    assert translator.translate("{{person.name}} %s").text == "{{person.name}} %s"


def test_without_protection_placeholders_are_text(translator: Translator) -> None:
    found = translator.translate("The {name}", protect_placeholders=False)
    assert "placeholder" not in {notice.kind for notice in found.warnings}


def test_what_the_model_did_not_place_itself_is_told() -> None:
    found = small_translator(copies_placeholders=False).translate("The {name} ate")
    assert "{name}" in next(notice.message for notice in found.warnings if notice.kind == "placeholder")

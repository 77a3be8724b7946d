"""An edit in words is the edit of the same name."""

from collections.abc import Callable, Sequence

import numpy
import pytest

from pellucid.errors import UsageError, UserError
from pellucid.inspection.edit_commands import EDITS, apply_edits
from pellucid.inspection.effect import effect_view
from pellucid.inspection.look import Look
from pellucid.inspection.what_if import WhatIf
from pellucid.translator import Translator
from tests.inspection.conftest import TARGET, TEXT, translator_of

OTHER = "12 Katzen!"
ATTENTION = "encoder.0.self_attention"
SAME: dict[str, Callable[[WhatIf, Look], WhatIf]] = {
    "mask_token 2": lambda run, _: run.mask_token(2),
    "mask-token -2 target": lambda run, _: run.mask_token(-2, "target"),
    "replace_token 1 !": lambda run, _: run.replace_token(1, "!"),
    "replace_token 1 ! target": lambda run, _: run.replace_token(1, "!", "target"),
    f"edit_source '{OTHER} ab'": lambda run, _: run.edit_source(f"{OTHER} ab"),
    f"ablate_head {ATTENTION} 2": lambda run, _: run.ablate_head(ATTENTION, 2),
    f"keep_heads {ATTENTION} 0 -1": lambda run, _: run.keep_heads(ATTENTION, [0, -1]),
    "zero encoder.1.feed_forward.output": lambda run, _: run.zero("encoder.1.feed_forward.output"),
    "zero encoder.1.feed_forward.output 3": lambda run, _: run.zero("encoder.1.feed_forward.output", 3),
    f'patch encoder.output "{OTHER}" 3 1': lambda run, other: run.patch("encoder.output", other, 3, 1),
    f"temperature {ATTENTION} 0.5": lambda run, _: run.temperature(ATTENTION, 0.5),
    f"temperature {ATTENTION} 0.5 1": lambda run, _: run.temperature(ATTENTION, 0.5, 1),
    "remove_positions": lambda run, _: run.remove_positions(),
}


def looking(translator: Translator) -> Callable[[str, Sequence[str]], Look]:
    return lambda text, what: translator.look(text, what=what)


@pytest.fixture(scope="module")
def still() -> Translator:
    return translator_of("sinusoidal")


@pytest.mark.parametrize("line", SAME)
def test_words_do_what_the_method_does(still: Translator, line: str) -> None:
    plain = still.what_if(TEXT, target=TARGET)
    wanted = SAME[line](plain, still.look(OTHER)).run(what=["logits"])
    found = apply_edits(plain, [line], looking(still)).run(what=["logits"])
    assert numpy.array_equal(found.after.logits.values, wanted.after.logits.values)
    assert found.after.edits == wanted.after.edits
    assert found.change != 0


def test_every_method_that_edits_has_words() -> None:
    methods = {name for name in vars(WhatIf) if not name.startswith("_") and callable(getattr(WhatIf, name))}
    assert set(EDITS) == methods - {"run"}
    assert {line.split()[0].replace("-", "_") for line in SAME} == set(EDITS)


def test_several_are_made_one_after_the_other(still: Translator) -> None:
    plain = still.what_if(TEXT, target=TARGET)
    both = apply_edits(plain, ["mask_token 1", "remove_positions"], looking(still)).run(what=["logits"])
    assert [words.split()[0] for words in both.after.edits] == ["mask", "remove"]
    wanted = plain.mask_token(1).remove_positions().run(what=["logits"])
    assert numpy.array_equal(both.after.logits.values, wanted.after.logits.values)


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("mask_tokn 1", "no edit mask_tokn", "Did you mean mask_token?"),
        ("sing", "no edit sing", "There are mask_token, "),
        ("", "the edit is empty", "There are mask_token, "),
        ("mask_token", "mask_token got 0 arguments", "Write mask_token POSITION"),
        ("remove_positions 3", "got 1 arguments", "Write remove_positions."),
        ("mask_token one", "expected an integer, got one", "Write mask_token POSITION"),
        (f"temperature {ATTENTION} hot", "expected a number, got hot", "Write temperature ATTENTION VALUE"),
        ("edit_source 'a", "no closing quotation", "Close the quotes"),
    ],
)
def test_mistakes_say_how_it_is_written(still: Translator, line: str, said: str, hint: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        apply_edits(still.what_if(TEXT, target=TARGET), [line], looking(still))
    assert caught.value.hint.startswith(hint)


def test_what_a_model_does_not_have_is_said(still: Translator) -> None:
    plain = still.what_if(TEXT, target=TARGET)
    for line, said in (
        ("mask_token 99", "counted from 0; got 99"),
        ("mask_token 1 middle", "unknown side middle"),
        ("zero encoder.outputs", "no tap is called"),
        ("patch encoder.outputs Hund", "no tap is called"),
        ("ablate_head encoder.5.self_attention 0", "no attention encoder"),
    ):
        with pytest.raises(UserError, match=said):
            apply_edits(plain, [line], looking(still))


def test_the_view_of_an_edit_has_each_token_before_and_after(still: Translator) -> None:
    effect = still.what_if(TEXT, target=TARGET).mask_token(1).run()
    view = effect_view(effect)
    assert view.table is not None
    assert [row[0] for row in view.table.rows] == [token.display for token in effect.before.next_tokens]
    for _, before, after, difference in view.table.rows:
        assert after - before == pytest.approx(difference)
    assert f"{effect.change:+.3f} nats" in view.reading
    assert effect.by_array().labels("name")[0] in view.reading

"""The search as a tree, forced beside free, heads against known alignments, what the cache holds."""

from typing import NamedTuple

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.alignment import attention_alignment, head_errors, word_spans
from pellucid.inspection.beam_tree import beam_tree, limit_nodes
from pellucid.inspection.stepwise import cache_contents
from pellucid.inspection.teacher_forcing import compare_teacher_forcing
from pellucid.inspection.views.catalogue import build_view
from pellucid.inspection.views.view import ViewRequest
from pellucid.translator import Translator
from tests.inspection.conftest import TARGET, TEXT


class Pair(NamedTuple):
    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]


PAIR = Pair("Der Hund schläft.", "The dog 12.", ("Der", "Hund", "schläft", "."), ("The", "dog", "12", "."),
            ((0, 0), (1, 1), (2, 2), (3, 3)))  # fmt: skip


def test_the_tree_has_the_result_and_all_that_was_weighed(any_translator: Translator) -> None:
    tree = beam_tree(any_translator, TEXT, beam=3)
    assert tree.text.strip() == any_translator.translate(TEXT, beam=3).text
    best = [node for node in tree.nodes if node.state == "best"]
    assert [node.token for node in best[1:]][: len(tree.results[0].ids)] == list(tree.results[0].ids)
    assert best[-1].total == pytest.approx(tree.results[0].log_prob, abs=1e-4)
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent or 0]
        assert node.number > parent.number
        assert node.step == parent.step + 1
        assert node.total == pytest.approx(parent.total + node.log_prob, abs=1e-4)
        assert parent.state in ("kept", "best")
    for step in range(1, max(node.step for node in tree.nodes)):
        alive = [n for n in tree.nodes if n.step == step and n.state in ("kept", "best") and n.display != "⟨end⟩"]
        assert len(alive) <= 3
    pruned = [node for node in tree.nodes if node.state == "pruned"]
    assert pruned


def test_a_forced_prefix_is_the_trunk_of_the_tree(translator: Translator) -> None:
    tree = beam_tree(translator, TEXT, prefix="The", beam=2)
    begin = translator.target_tokenizer.encode("The")
    assert [node.token for node in tree.nodes if 0 < node.step <= len(begin)] == begin


def test_watching_does_not_change_the_search(translator: Translator) -> None:
    before = translator.translate(TEXT, beam=4, n_best=4)
    beam_tree(translator, TEXT, beam=4, n_best=4)
    assert translator.translate(TEXT, beam=4, n_best=4) == before


def test_forced_and_free_stand_side_by_side(translator: Translator) -> None:
    found = compare_teacher_forcing(translator, TEXT, TARGET)
    look = translator.look(TEXT, target=TARGET)
    log_probs = torch.from_numpy(look.logits.values).log_softmax(-1).numpy()
    for i, token in enumerate(found.teacher_forced):
        assert token.log_prob == pytest.approx(float(log_probs[i, look.encoded.next_tokens[i]]), abs=1e-5)
        assert token.best_log_prob == pytest.approx(float(log_probs[i].max()), abs=1e-5)
    assert found.text.strip() == translator.translate(TEXT, beam=1).text
    # The model's own words, forced on it, are as probable as they were when it wrote them.
    again = compare_teacher_forcing(translator, TEXT, found.text)
    if [t.display for t in again.teacher_forced[:3]] == [t.display for t in found.free_running[:3]]:
        numpy.testing.assert_allclose(
            [t.log_prob for t in again.teacher_forced[:3]], [t.log_prob for t in found.free_running[:3]], atol=1e-4
        )


def test_alignment_is_of_the_token_that_was_to_be_written(translator: Translator) -> None:
    look = translator.look(TEXT, target=TARGET)
    shown = attention_alignment(look, [(1, 2)])
    assert shown.labels("next_tokens")[-1] == "⟨end⟩"
    assert numpy.array_equal(shown.values, look["decoder.1.cross_attention.weights"].values[2])
    numpy.testing.assert_allclose(attention_alignment(look).values.sum(-1), 1, atol=1e-6)
    with pytest.raises(UserError, match="decoder has 2 layers"):
        attention_alignment(look, [(2, 0)])
    with pytest.raises(UserError, match="a layer has 4 heads"):
        attention_alignment(look, [(0, 4)])


def test_a_head_that_is_made_to_look_right_has_no_error(translator: Translator) -> None:
    """Measured against its own strongest links, a head is perfect."""
    look = translator.look(PAIR.source, target=PAIR.target)
    weights = attention_alignment(look, [(1, 2)]).values
    sources, targets = word_spans(PAIR.source, PAIR.source_words), word_spans(PAIR.target, PAIR.target_words)
    links = set()
    for row, token in zip(weights, look.next_tokens, strict=True):
        source = look.source[int(row[:-1].argmax())]
        for i, (a, b) in enumerate(sources):
            for j, (c, d) in enumerate(targets):
                if source.offsets[0] < b and source.offsets[1] > a and token.offsets[0] < d and token.offsets[1] > c:
                    links.add((i, j))
    found = head_errors(translator, [PAIR._replace(alignment=tuple(links))])
    assert found.heads.values[1, 2] == 0
    assert found.heads.shape == (2, 4)
    assert found.heads.values[found.best] == found.heads.values.min() == 0
    assert found.guided is None
    with pytest.raises(UserError, match="does not stand in"):
        head_errors(translator, [PAIR._replace(source_words=("Katze",))])


def test_the_cache_holds_the_keys_and_values_of_the_look(any_translator: Translator) -> None:
    look = any_translator.look(TEXT, target=TARGET)
    held = cache_contents(look.model, look.encoded)
    assert [one.name for one in held] == [
        f"decoder.{n}.{part}" for n in range(2) for part in ("self_attention", "cross_attention")
    ]
    for one in held:
        numpy.testing.assert_allclose(one.value, look[f"{one.name}.value"].values, atol=2e-5)
        assert one.tokens == len(look.source if "cross" in one.name else look.target)
        assert one.used == 4 * (one.key.size + one.value.size)
        assert one.reserved >= one.used


def test_a_picture_of_a_large_search_leaves_out_the_least_probable_of_what_was_pruned(translator: Translator) -> None:
    nodes = beam_tree(translator, TEXT, beam=4).nodes
    few = limit_nodes(nodes, len(nodes) - 5)
    assert len(few) == len(nodes) - 5
    assert limit_nodes(nodes, len(nodes)) == nodes
    assert [node.number for node in few] == list(range(len(few)))
    whole = {(node.step, node.token, node.total): node for node in nodes}
    for node in few:
        if node.parent is not None:
            before = whole[node.step, node.token, node.total]
            assert before.parent is not None
            assert few[node.parent].total == nodes[before.parent].total
    gone = [
        node for node in nodes if (node.step, node.token, node.total) not in {(n.step, n.token, n.total) for n in few}
    ]
    assert {node.state for node in gone} == {"pruned"}
    assert max(node.log_prob for node in gone) <= min(node.log_prob for node in few if node.state == "pruned")
    assert {node.state for node in limit_nodes(nodes, 1)} <= {"kept", "ended", "best"}


def test_the_tree_of_a_prefix_begins_with_it(translator: Translator) -> None:
    look = translator.look(TEXT, prefix="The")
    view = build_view(ViewRequest(look, model=translator, prefix="The"), "beam-search")
    assert view.table is not None
    begun = translator.target_tokenizer.encode("The")
    first = [row[1] for row in view.table.rows if row[0] == 1]
    assert first == [look.target[1].display]
    assert look.target[1].id == begun[0]

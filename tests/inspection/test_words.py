"""Neighbours of embeddings and of states, senses by layer, gradients of a text."""

import numpy
import pytest
import torch

from pellucid.errors import UserError
from pellucid.inspection.contextual_states import occurrences, senses, state_neighbours
from pellucid.inspection.embeddings import embedding_map, embedding_neighbours
from pellucid.inspection.gradients import gradients, saturation
from pellucid.inspection.look import Look
from pellucid.translator import Translator
from tests.inspection.conftest import TARGET, TEXT, translator_of


def look_at(translator: Translator, text: str) -> Look:
    return translator.look(text, target=TARGET, what=["encoder.*.residual.*"])


def test_neighbours_of_an_embedding_are_the_best_cosines(look: Look) -> None:
    rows = torch.nn.functional.normalize(look.stack("encoder").embedding.weight.detach().double(), dim=-1)
    cosines = (rows @ rows[300]).numpy()
    found = embedding_neighbours(look.inspected, 300, 5)
    order = [i for i in numpy.argsort(-cosines) if i != 300][:5]
    numpy.testing.assert_allclose(found.values, cosines[order])
    with pytest.raises(UserError, match="not in the vocabulary"):
        embedding_neighbours(look.inspected, 10**6)


def test_a_word_is_found_wherever_it_stands(translator: Translator) -> None:
    found = occurrences(lambda text: look_at(translator, text), ["Hund, Hund!", "Katze", "Der Hund"], "Hund")
    assert [(one.text, one.start) for one in found] == [("Hund, Hund!", 0), ("Hund, Hund!", 6), ("Der Hund", 4)]
    assert found[0].states.shape == (3, 16)


def test_the_nearest_state_is_that_of_the_same_sentence(translator: Translator) -> None:
    corpus = {"Der Hund schläft.": ["Der", "Hund"], "12 Katzen!": ["Katzen"], TEXT: ["Hund"]}
    found = state_neighbours(lambda text: look_at(translator, text), TEXT, "Hund", corpus, layer=0, count=2)
    assert found[0][:1] == ("Hund",)
    assert found[0][1].text == "Der Hund schläft."
    assert found[0][2] == pytest.approx(1, abs=1e-6)  # before the first layer, at the same position
    with pytest.raises(UserError, match="does not occur in"):
        state_neighbours(lambda text: look_at(translator, text), TEXT, "Katze", corpus)


def test_senses_start_as_one_embedding() -> None:
    translator = translator_of("none")
    sentences = {"a": ["Der Hund 1", "Ein Hund 1"], "b": ["12 Hund!", "13 Hund!"]}
    found = senses(lambda text: look_at(translator, text), "Hund", sentences)
    assert found.same.values[0] == found.different.values[0] == pytest.approx(1)
    assert found.same.shape == (3,)
    assert ((found.nearest.values >= 0) & (found.nearest.values <= 1)).all()
    with pytest.raises(UserError, match="too few occurrences"):
        senses(lambda text: look_at(translator, text), "Hund", {"a": ["Hund Hund"]})


def test_a_map_holds_as_much_as_it_says(look: Look) -> None:
    ids = list(range(270, 290))
    places, shares = embedding_map(look.inspected, ids)
    rows = look.stack("encoder").embedding.weight.detach().double()[ids].numpy()
    total = ((rows - rows.mean(0)) ** 2).sum()
    numpy.testing.assert_allclose((places.values**2).sum(0) / total, shares)
    assert shares[0] >= shares[1]


def test_gradients_are_those_of_the_loss(any_translator: Translator) -> None:
    look = any_translator.look(TEXT, target=TARGET)
    found = gradients(look)
    model = any_translator.model
    with torch.enable_grad():
        logits = model(torch.tensor([look.encoded.source]), torch.tensor([look.encoded.target]))
        loss = torch.nn.functional.cross_entropy(logits[0], torch.tensor(look.encoded.next_tokens))
        name, weight = next((n, w) for n, w in model.named_parameters() if n == "encoder.1.self_attention.query.weight")
        (expected,) = torch.autograd.grad(loss, [weight])
    assert found.loss == pytest.approx(float(loss.detach()), abs=1e-6)
    assert found.norms.at(matrix=name).values == pytest.approx(float(expected.norm()), rel=1e-4)
    squares = float((found.norms.values**2).sum())
    assert float((found.by_layer.values**2).sum()) == pytest.approx(squares)
    assert all(weight.grad is None for weight in model.parameters())


def test_only_rows_of_tokens_read_are_touched_unless_tied() -> None:
    untied = gradients(translator_of("alibi").look(TEXT, target=TARGET))
    look = translator_of("alibi").look(TEXT, target=TARGET)
    assert untied.nonzero_rows.at(matrix="source_embedding.weight").values == len({token.id for token in look.source})
    tied = gradients(translator_of("rope").look(TEXT, target=TARGET))
    assert tied.nonzero_rows.values.tolist() == tied.rows.values.tolist()


def test_saturation_tells_even_from_decided(translator: Translator) -> None:
    name = "decoder.0.cross_attention"
    even, sharp = (
        saturation(translator.what_if(TEXT, target=TARGET).temperature(name, value).run().after).at(attention=name)
        for value in (1e6, 1e-3)
    )
    keys = len(translator.look(TEXT, target=TARGET).source)
    numpy.testing.assert_allclose(even.values, [1 / keys, 1 - 1 / keys, numpy.log(keys)], rtol=1e-3)
    assert sharp.at(figure="greatest").values > 0.95

import math
from pathlib import Path

import pytest
import torch

from pellucid.corpus.documents import Document, read_documents
from pellucid.corpus.pairs import Location
from pellucid.errors import UserError
from pellucid.evaluation.perplexity import measure_texts, score_texts
from pellucid.language_model import LanguageModel
from tests.generation.small_language_model import imported_language_model, small_language_model

HERE = Location("text.txt", 1)


def document(text: str, prompt: str = "") -> Document:
    return Document(text, HERE, prompt)


def plain_log_probs(model: LanguageModel, ids: list[int], first: int) -> list[float]:
    with torch.inference_mode():
        said = model.model(torch.tensor([ids])).log_softmax(-1)[0]
    return [float(said[place - 1, ids[place]]) for place in range(first, len(ids))]


def test_short_documents_are_measured_in_one_pass_each_with_their_ends() -> None:
    model = small_language_model()
    texts = ["The cat ate", "猫吃鱼"]
    tokenizer = model.tokenizer
    expected = [
        value for text in texts for value in plain_log_probs(model, [*model.prompt_ids(text), tokenizer.end_id or 0], 1)
    ]
    found = measure_texts(model, map(document, texts))
    assert found.loss == pytest.approx(-sum(expected) / len(expected), abs=1e-4)
    assert (found.tokens, found.documents, found.ends) == (len(expected), 2, True)
    assert found.bytes == sum(len(text.encode()) for text in texts)
    assert found.perplexity == pytest.approx(math.exp(found.loss))
    assert found.bits_per_byte == pytest.approx(found.loss * found.tokens / found.bytes / math.log(2))
    assert (found.context, found.stride) == (32, 16)


def test_a_prompt_is_given_and_not_measured() -> None:
    model = small_language_model()
    tokenizer = model.tokenizer
    given = [1, *tokenizer.encode("zh→en: 猫\n")]
    ids = [*given, *tokenizer.encode_continuation("cat"), 2]
    found = measure_texts(model, [document("cat", "zh→en: 猫\n")])
    assert found.loss == pytest.approx(
        -sum(plain_log_probs(model, ids, len(given))) / (len(ids) - len(given)), abs=1e-4
    )
    assert found.bytes == 3


def test_the_ends_of_imported_models_are_not_measured() -> None:
    found = measure_texts(imported_language_model(), [document("The cat")])
    assert not found.ends
    assert found.tokens == len(imported_language_model().tokenizer.encode("The cat"))


def test_a_document_in_parts_is_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_language_model()
    lines = ["The cat ate three fish yesterday.", "Der Hund schläft. 12 Katzen!", "猫"] * 4
    file = tmp_path / "play.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = [raw.document for raw in read_documents(str(file), "file")]
    monkeypatch.setattr("pellucid.corpus.documents.MAX_PART", 50)
    parts = [raw.document for raw in read_documents(str(file), "file")]
    assert len(whole) == 1 < len(parts)
    one, other = measure_texts(model, whole, stride=1), measure_texts(model, parts, stride=1)
    assert (one.documents, one.bytes) == (other.documents, other.bytes) == (1, len(file.read_bytes()) - 1)
    (scored,) = score_texts(model, parts, stride=1)
    assert -scored.total / len(scored.tokens) == pytest.approx(other.loss, abs=1e-5)
    # The parts are cut into tokens apart, so that their first words have no space mark.
    assert other.loss == pytest.approx(one.loss, rel=0.1)


def test_a_smaller_stride_shows_more_and_counts_the_same_tokens() -> None:
    model = small_language_model()
    text = document("The cat ate three fish yesterday. " * 10)
    coarse, fine = measure_texts(model, [text]), measure_texts(model, [text], stride=4)
    assert coarse.tokens == fine.tokens
    assert coarse.stride == 16 and fine.stride == 4
    assert coarse.loss != fine.loss


def test_scores_sum_to_what_is_measured_and_progress_counts() -> None:
    model = small_language_model()
    texts = [document("The cat ate"), document("dog", "Hund: "), document("猫" * 60)]
    seen: list[int] = []
    found = measure_texts(model, texts, on_progress=seen.append)
    scores = list(score_texts(model, texts))
    assert len(scores) == 3
    assert sum(score.total for score in scores) == pytest.approx(-found.loss * found.tokens, abs=1e-2)
    assert sum(len(score.tokens) for score in scores) == sum(seen) == found.tokens
    assert scores[1].tokens[-1].text == "⟨end⟩"


def test_nothing_to_measure_is_told() -> None:
    with pytest.raises(UserError, match="no text to measure"):
        measure_texts(small_language_model(), [])

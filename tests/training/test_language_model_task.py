"""The task of a language model: the loss of a document is its own, whatever stands beside it in the batch."""

from pathlib import Path
from typing import get_args

import numpy
import pytest
import torch

from pellucid.corpus.documents import Document
from pellucid.corpus.pairs import Location
from pellucid.generation.sampling_config import SamplingConfig
from pellucid.layers.position_scheme import PositionScheme
from pellucid.models.decoder_only import DecoderOnly
from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.initialise import init_weights
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.training.config import LanguageModelTrainingConfig
from pellucid.training.document_dataset import DocumentDataset, write_documents
from pellucid.training.language_model_task import LanguageModelTask
from pellucid.training.prepare_text import PreparedText

LOCATION = Location("f", 1)
TEXTS = ["the cat eats", "a dog", "the fish runs and the dog eats", "cat", "the dog runs after a cat"]
TOKENIZER = train_tokenizer(TEXTS, TokenizerConfig(kind="characters"))


def task(folder: Path, context: int = 40, positions: str = "rope", documents: list[Document] | None = None,
         **config: object) -> LanguageModelTask:  # fmt: skip
    """Return a task on the texts, which are also its validation text."""
    shape = DecoderOnlyConfig.model_validate(
        {"d_model": 16, "n_heads": 2, "d_ff": 24, "n_layers": 2, "positions": positions, "max_positions": 64}
    )
    model = DecoderOnly(shape, TOKENIZER.vocab_size, TOKENIZER.pad_id).eval()
    init_weights(model, 1, 1.0)
    store = folder / f"documents-{context}"
    written = write_documents(documents or [Document(text, LOCATION) for text in TEXTS], store, TOKENIZER)
    on_disk = DocumentDataset(store, TOKENIZER, context)
    prepared = PreparedText(TOKENIZER, on_disk, on_disk, written.predicted / written.bytes, {})
    settings = LanguageModelTrainingConfig.model_validate({"precision": "float32", **config})
    return LanguageModelTask(settings, SamplingConfig(), model, prepared)


def total(one: LanguageModelTask, batch_tokens: int) -> tuple[float, int]:
    """Return the summed loss of an epoch and how many tokens it predicts."""
    batches = [batch for items in one.plan(batch_tokens, 0) for batch in one.batches(items, 0, batch_tokens)]
    return sum(one.loss(batch, 0.0).nll for batch in batches), sum(batch.target_tokens for batch in batches)


@pytest.mark.parametrize("positions", get_args(PositionScheme))
def test_documents_that_share_a_window_lose_what_each_loses_alone(tmp_path: Path, positions: str) -> None:
    shared, alone = task(tmp_path, 64, positions), task(tmp_path, 32, positions)
    windows = [len(one.prepared.train.windows(0).chunks) for one in (shared, alone)]
    assert windows[0] < windows[1]
    (found, tokens), (expected, as_many) = total(shared, 640), total(alone, 32)
    assert tokens == as_many == sum(len(TOKENIZER.encode(text)) + 1 for text in TEXTS)
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_size_of_batches_and_their_parts_change_nothing(tmp_path: Path) -> None:
    one = task(tmp_path)
    assert total(one, 40)[0] == pytest.approx(total(one, 4000)[0], rel=1e-6)
    (items,) = one.plan(4000, 0)
    assert len(one.batches(items, 0, 40)) == len(items)


def test_validation_is_the_mean_over_all_tokens_and_bits_follow(tmp_path: Path) -> None:
    one = task(tmp_path)
    loss = one.validation_loss()
    summed, tokens = total(one, 4000)
    assert loss == pytest.approx(summed / tokens, rel=1e-5)
    assert loss is not None
    metrics = one.measure(loss, 0)
    size = sum(len(text.encode()) for text in TEXTS)
    assert metrics.bits_per_byte == pytest.approx(summed / numpy.log(2) / size, rel=1e-5)


def test_a_long_validation_text_is_measured_in_part(tmp_path: Path) -> None:
    documents = [Document("the cat eats the fish and runs", LOCATION)] * 30
    whole, part = (
        task(tmp_path, 64, documents=documents),
        task(tmp_path, 63, documents=documents, validation_tokens=300),
    )
    assert part.validation_loss() == pytest.approx(whole.validation_loss(), rel=1e-5)  # all documents are the same
    assert sum(len(numbers) for numbers in part._measured) == 4
    assert sum(len(numbers) for numbers in whole._measured) > 4


def test_without_validation_text_nothing_is_measured(tmp_path: Path) -> None:
    one = task(tmp_path)
    empty = tmp_path / "none"
    write_documents([], empty, TOKENIZER)
    prepared = PreparedText(TOKENIZER, one.prepared.train, DocumentDataset(empty, TOKENIZER, 40), 0.0, {})
    assert LanguageModelTask(one.config, one.sampling, one.model, prepared).validation_loss() is None


def test_in_a_short_context_the_sample_keeps_its_prompt(tmp_path: Path) -> None:
    document = Document("a dog", LOCATION, prompt="the cat eats")
    sample = task(tmp_path, 32, documents=[document], sample_tokens=60).measure(1.0, 0).sample
    assert sample is not None and sample["prompt"] == "the cat eats"


def test_a_sample_is_the_same_each_time_and_holds_no_special_piece(tmp_path: Path) -> None:
    one = task(tmp_path, sample_tokens=12)
    with torch.no_grad():
        one.model.output_embedding.weight[TOKENIZER.start_id] = 50 * one.model.state_dict()["decoder_norm.weight"]
    samples = [one.measure(1.0, number).sample for number in (0, 0, 1, 5)]
    assert samples[0] == samples[1]
    assert samples[0] is not None and samples[2] is not None and samples[3] is not None
    assert "the cat eats".startswith(samples[0]["prompt"])
    assert samples[2]["prompt"] != samples[0]["prompt"]
    assert samples[3]["prompt"] == samples[0]["prompt"]  # they take turns
    one.config = one.config.model_copy(update={"sample_tokens": 0})
    assert one.measure(1.0, 0).sample is None


def test_a_sample_shows_whole_characters_only(tmp_path: Path) -> None:
    """Each of these characters is three tokens: the 16 that are given are five of them and a byte."""
    text = "春眠不觉晓处处闻啼鸟"
    one = task(tmp_path, 60, documents=[Document(text, LOCATION)], sample_tokens=20)
    sample = one.measure(1.0, 0).sample
    assert sample is not None
    assert sample["prompt"] == text[:5]
    assert sample["continuation"]
    assert "\ufffd" not in sample["continuation"]
    late = task(tmp_path, 8, documents=[Document(text, LOCATION)], sample_tokens=20).measure(1.0, 0).sample
    assert late is not None
    assert late["prompt"] == text[4]  # half the context is the prompt's: of its four tokens the last is a part


def test_of_a_document_with_a_prompt_the_sample_goes_on_from_it(tmp_path: Path) -> None:
    one = task(tmp_path, documents=[Document(" the dog", LOCATION, "the cat runs after")], sample_tokens=3)
    sample = one.measure(1.0, 0).sample
    assert sample is not None
    assert sample["prompt"] == "the cat runs after"

"""What is recorded is what Hugging Face's models give as attentions and hidden states, with the same random weights."""

from pathlib import Path

import numpy
import pytest
import torch

from pellucid.inspection.labelled_array import Array
from pellucid.inspection.recording import TokenizedText, record
from pellucid.interop.import_model import import_model
from pellucid.models.weights import load_decoder_only
from pellucid.storage.model_folder import read_config
from tests.interop.twins import IDS, huggingface_folder, twin
from tests.models.test_marian_parity import ALTERNATE, SOURCE, TARGET, marian, ours

__all__ = ["marian", "ours"]  # pytest looks for fixtures among a module's names


def assert_close(seen: Array, expected: Array, name: str = "") -> None:
    numpy.testing.assert_allclose(seen, expected, atol=1e-4, rtol=1e-4, err_msg=name)  # float32 sums in another order


@torch.inference_mode()
def test_taps_of_a_translator(request: pytest.FixtureRequest) -> None:
    theirs, model = request.getfixturevalue("marian"), request.getfixturevalue("ours")
    theirs.set_attn_implementation("eager")
    found = theirs(
        input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET,
        output_attentions=True, output_hidden_states=True,
    )  # fmt: skip
    rows = [[number for number in row if number] for row in SOURCE.tolist()]
    given = [[number for number in row if number] for row in TARGET.tolist()]
    texts = [TokenizedText("", tuple(row), tuple(target), (), "") for row, target in zip(rows, given, strict=True)]
    arrays = record(model, texts)
    for layer in range(2):
        for name, theirs_of in (
            (f"encoder.{layer}.self_attention.weights", found.encoder_attentions),
            (f"decoder.{layer}.self_attention.weights", found.decoder_attentions),
            (f"decoder.{layer}.cross_attention.weights", found.cross_attentions),
        ):
            queries = rows if name.startswith("encoder") else given
            for i, row in enumerate(queries):
                expected = theirs_of[layer][i, :, : len(row)].numpy()
                assert_close(arrays[name][i, :, : len(row)], expected, name)
        for stack, states, lengths in (
            ("encoder", found.encoder_hidden_states, rows),
            ("decoder", found.decoder_hidden_states, given),
        ):
            for i, row in enumerate(lengths):
                for name, index in (("input", layer), ("output", layer + 1)):
                    expected = states[index][i, : len(row), ALTERNATE].numpy()
                    seen = arrays[f"{stack}.{layer}.residual.{name}"][i, : len(row)]
                    assert_close(seen, expected, name)


@pytest.mark.parametrize("name", ["gpt2", "llama", "qwen2", "qwen3"])
@torch.inference_mode()
def test_taps_of_language_models(name: str, tmp_path: Path) -> None:
    theirs = twin(name)
    theirs.set_attn_implementation("eager")
    import_model(huggingface_folder(theirs, tmp_path / "theirs"), tmp_path / "ours")
    model = load_decoder_only(read_config(tmp_path / "ours", "language-model"), tmp_path / "ours/model.safetensors")
    found = theirs(torch.tensor([IDS]), output_attentions=True, output_hidden_states=True)
    arrays = record(model, [TokenizedText("", (), tuple(IDS), (), "")])
    count = len(found.attentions)
    for layer in range(count):
        weights = arrays[f"decoder.{layer}.self_attention.weights"]
        assert_close(weights, found.attentions[layer].numpy())
        states = arrays[f"decoder.{layer}.residual.input"]
        assert_close(states, found.hidden_states[layer].numpy())
    assert_close(arrays["decoder.output"], found.hidden_states[-1].numpy())

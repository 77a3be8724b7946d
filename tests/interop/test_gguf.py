"""GGUF files: the logits of the model they were made from, its ids, and refusals that say what is unknown."""

from pathlib import Path
from typing import Any

import gguf
import numpy
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from tokenizers import pre_tokenizers

from pellucid.errors import UserError
from pellucid.interop.gguf_tokenizer import read_gguf_tokenizer
from pellucid.interop.import_model import import_model
from pellucid.storage.tensors import read_tensors
from pellucid.tokenizers import ImportedTokenizer, load_language_tokenizer
from tests.interop.test_huggingface_folder import CLOSE, logits_of
from tests.interop.twins import TEXT, byte_level_tokenizer, expected_logits, gguf_file, twin


@pytest.mark.parametrize("name", ["gpt2", "llama", "llama3", "qwen2", "qwen3"])
def test_the_logits_are_those_of_the_model_it_was_made_from(name: str, tmp_path: Path) -> None:
    model = twin(name)
    imported = import_model(gguf_file(model, tmp_path / "twin.gguf"), tmp_path / "ours")
    numpy.testing.assert_allclose(logits_of(tmp_path / "ours"), expected_logits(model), **CLOSE)
    assert (imported.name, imported.chat, imported.context) == ("twin", True, 64)


@pytest.mark.parametrize("kind", [Kind.F16, Kind.BF16, Kind.Q8_0, Kind.Q5_0, Kind.Q5_1, Kind.Q4_0, Kind.Q4_1])
def test_packed_weights_become_the_numbers_that_their_blocks_stand_for(kind: Kind, tmp_path: Path) -> None:
    model = twin("qwen2")
    import_model(gguf_file(model, tmp_path / "twin.gguf", kind), tmp_path / "ours")
    stored = read_tensors(tmp_path / "ours" / "model.safetensors")
    weight = model.model.layers[1].mlp.gate_proj.weight.detach().numpy()
    expected = gguf.quants.dequantize(gguf.quants.quantize(weight, kind), kind)
    found = stored["decoder.1.feed_forward.gate_projection.weight"]
    assert found.float().numpy().tobytes() == expected.tobytes()
    narrow = {Kind.F16: torch.float16, Kind.BF16: torch.bfloat16}
    assert found.dtype == narrow.get(kind, torch.float32)


def test_eight_bits_are_a_scale_times_whole_numbers(tmp_path: Path) -> None:
    """Beside the package's unpacking: Q8_0 is, for each 32 numbers, a float16 and 32 int8."""
    model = twin("llama")
    path = gguf_file(model, tmp_path / "twin.gguf", Kind.Q8_0)
    import_model(path, tmp_path / "ours")
    (tensor,) = (one for one in gguf.GGUFReader(path).tensors if one.name == "blk.0.ffn_up.weight")
    blocks = numpy.frombuffer(tensor.data.tobytes(), numpy.dtype([("scale", "<f2"), ("numbers", "i1", 32)]))
    expected = blocks["scale"].astype(numpy.float32)[:, None] * blocks["numbers"]
    stored = read_tensors(tmp_path / "ours" / "model.safetensors")["decoder.0.feed_forward.up_projection.weight"]
    assert numpy.array_equal(stored.numpy().ravel(), expected.ravel())


@pytest.mark.parametrize("kind", [Kind.Q2_K, Kind.Q3_K, Kind.Q4_K, Kind.Q5_K, Kind.Q6_K])
def test_blocks_of_256_are_unpacked(kind: Kind, tmp_path: Path) -> None:
    size, of_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = numpy.random.default_rng(1).integers(0, 60, (4, of_bytes), numpy.uint8)  # float16 scales stay finite
    writer = gguf.GGUFWriter(tmp_path / "blocks.gguf", "llama")
    writer.add_tensor("packed", blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    from pellucid.interop.gguf_file import _unpacked

    (tensor,) = gguf.GGUFReader(tmp_path / "blocks.gguf").tensors
    unpacked = _unpacked(gguf, tensor, "")
    assert unpacked.shape == (4, size) and unpacked.dtype == torch.float32
    assert unpacked.numpy().tobytes() == gguf.quants.dequantize(blocks, kind).tobytes()


@pytest.mark.parametrize("name", ["gpt-2", "smollm"])
def test_the_ids_are_those_of_the_tokenizer_it_was_made_from(name: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"tokenizer.ggml.pre": name}
    import_model(gguf_file(twin("llama"), tmp_path / "twin.gguf", **settings), tmp_path / "ours")
    tokenizer = load_language_tokenizer(tmp_path / "ours")
    theirs = byte_level_tokenizer()
    if name == "smollm":  # as its tokenizer.json has it; the merges are the same
        theirs.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    for text in [*TEXT, "1234 ½ 二〇 x9y", "  two  spaces\n\n\tand tabs ", "it's IT'S"]:
        assert tokenizer.encode(text) == theirs.encode(text).ids
        assert tokenizer.decode(tokenizer.encode(text)) == text


_BYTES = [f"<0x{value:02X}>" for value in range(256)]


def settings_of(**changes: Any) -> dict[str, Any]:
    settings = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", *_BYTES, "▁", "a", "b", "ab", "▁a", "▁ab", "abb"],
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * 7],
        "tokenizer.ggml.scores": [*[0.0] * 259, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    settings |= {f"tokenizer.ggml.{name}": value for name, value in changes.items()}
    return {name: value for name, value in settings.items() if value is not None}


def test_a_vocabulary_with_scores_joins_the_best_scored_neighbours() -> None:
    """▁a b b: "abb" has the best score, but ▁a (−3) is joined before ab (−4), then ▁ab (−2): SentencePiece's order."""
    text = read_gguf_tokenizer(settings_of(), "twin.gguf")
    tokenizer = ImportedTokenizer(text.content, text.special)
    assert [piece.display for piece in tokenizer.pieces("abb")] == ["▁ab", "b"]
    assert [piece.display for piece in tokenizer.pieces("ab a水")] == ["▁ab", "▁a", "水⟨E6⟩", "水⟨B0⟩", "水⟨B4⟩"]
    assert tokenizer.adds_start and text.special.end_ids == (2,)
    for sample in ["abb", " ab", "a  b ", "<s></s><0x41>", "水\n"]:
        assert tokenizer.decode(tokenizer.encode(sample)) == sample
        assert tokenizer.special_ids.isdisjoint(tokenizer.encode(sample))


def test_without_a_space_before_the_first_word_none_is_put_there() -> None:
    text = read_gguf_tokenizer(settings_of(add_space_prefix=False), "twin.gguf")
    tokenizer = ImportedTokenizer(text.content, text.special)
    assert [piece.display for piece in tokenizer.pieces("abb")] == ["abb"]
    assert tokenizer.decode(tokenizer.encode(" ab")) == " ab"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"model": "t5"}, "tokenizer t5 is not known"),
        ({"model": "gpt2", "pre": "chameleon", "merges": []}, "the rule chameleon"),
        ({"model": "gpt2", "pre": "gpt-2"}, "has no merges"),
        ({"model": "gpt2", "pre": "gpt-2", "merges": ["ab"]}, "merge 'ab' has no two parts"),
        ({"tokens": None}, "has no vocabulary"),
        ({"scores": [1.0]}, "has no scores"),
    ],
)
def test_a_vocabulary_that_cannot_be_read_is_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what) as refused:
        read_gguf_tokenizer(settings_of(**changes), "twin.gguf")
    assert refused.value.where == ("twin.gguf",) and "Hugging Face folder" in refused.value.hint


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"general.architecture": "mamba"}, "architecture mamba is not known"),
        ({"llama.expert_count": 8}, "llama.expert_count is 8"),
        ({"llama.rope.scaling.type": "yarn"}, "llama.rope.scaling.type is 'yarn'"),
        ({"llama.rope.dimension_count": 4}, "llama.rope.dimension_count is 4"),
        ({"llama.embedding_length": None}, "llama.embedding_length is missing"),
        (
            {"llama.feed_forward_length": 63},
            r"ffn_gate.weight does not fit .* shape is \[64, 32\], expected \[63, 32\]",
        ),
        ({"llama.block_count": 1}, "llama has no tensor blk.1.*, nor"),
        ({"llama.block_count": 3}, "the tensor blk.2.* is missing"),
        ({"split.count": 2}, "one of 2 parts"),
    ],
)
def test_what_is_unknown_is_named(tmp_path: Path, settings: dict[str, Any], what: str) -> None:
    path = gguf_file(twin("llama"), tmp_path / "twin.gguf", **settings)
    with pytest.raises(UserError, match=what):
        import_model(path, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_an_unknown_slowing_of_frequencies_is_named(tmp_path: Path) -> None:
    model = twin("llama3")
    model.model.rotary_emb.inv_freq /= 1.5
    with pytest.raises(UserError, match=r"rope_freqs\.weight slows"):
        import_model(gguf_file(model, tmp_path / "twin.gguf"), tmp_path / "ours")


@pytest.mark.parametrize("kept", [4, 30, 2000, -2000])
def test_a_file_cut_off_is_no_whole_one(tmp_path: Path, kept: int) -> None:
    path = gguf_file(twin("llama"), tmp_path / "twin.gguf")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(UserError, match=r"twin\.gguf is no whole GGUF file"):
        import_model(path, tmp_path / "ours")

from pathlib import Path

import pytest

import pellucid
from pellucid import WordVectors
from pellucid.errors import UsageError, UserError
from pellucid.storage.model_folder import write_config


def test_word_vectors_are_loaded_from_a_folder_or_a_file(tmp_path: Path) -> None:
    vectors = WordVectors(["king", "queen"], [[1.0, 2.0], [2.0, 1.0]])
    for name in ("folder", "v.bin"):
        vectors.save(tmp_path / name)
        loaded = pellucid.load(tmp_path / name)
        assert isinstance(loaded, WordVectors)
        assert [word for word, _ in loaded.similar("king")] == ["queen"]
    with pytest.raises(UsageError, match="word vectors are on the CPU in float32"):
        pellucid.load(tmp_path / "folder", precision="bfloat16")


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model folder at"):
        pellucid.load(tmp_path / "none")
    with pytest.raises(UserError, match="holds no model"):
        pellucid.load(tmp_path)
    write_config(tmp_path, "language-model", {})
    with pytest.raises(UserError, match="holds a language model, and this version loads"):
        pellucid.load(tmp_path)

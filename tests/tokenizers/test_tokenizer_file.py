import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pellucid.errors import UserError
from pellucid.tokenizers import Tokenizer, load_tokenizer
from pellucid.tokenizers.config import TokenizerKind


def test_what_is_loaded_is_what_was_saved(tmp_path: Path, tokenizer: Tokenizer) -> None:
    tokenizer.save(tmp_path / "one.json")
    loaded = load_tokenizer(tmp_path / "one.json")
    loaded.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert repr(loaded) == repr(tokenizer)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the tokenizer"):
        load_tokenizer(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"{}", b'{"version": "1.0"}'])
def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(UserError, match=r"damaged|not a Pellucid tokenizer") as caught:
        load_tokenizer(tmp_path / "tokenizer.json")
    assert caught.value.where == (str(tmp_path / "tokenizer.json"),)


def put(*keys: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


DAMAGES: list[tuple[TokenizerKind, Callable[[dict[str, Any]], None], str]] = [
    ("bpe", put("format", value=2), "format 2"),
    ("bpe", put("kind", value="wordpiece"), "kind 'wordpiece'"),
    ("bpe", put("kind", value=["bpe"]), "kind"),
    ("bpe", put("vocab_size", value=5), "vocab_size is 5"),
    ("bpe", put("alphabet", value={"letters": "a"}), "alphabet"),
    ("bpe", put("alphabet", value=None), "alphabet"),
    ("bpe", put("alphabet", "letters", value="aa"), "twice"),
    ("bpe", put("alphabet", "letters", value="▁"), "reserved"),
    ("bpe", put("alphabet", "letters", value="\ud800"), "reserved"),
    ("bpe", put("alphabet", "digits", value=7), "digits"),
    ("bpe", put("alphabet", "letters", value=""), "merge"),
    ("bpe", put("model", value=[]), "model"),
    ("bpe", put("model", value={}), "merges"),
    ("bpe", put("model", "merges", value=["the"]), "merge"),
    ("bpe", put("model", "merges", value=["t h", "t h"]), "twice"),
    ("bpe", put("model", "merges", value=[1]), "merge"),
    ("bpe", put("trained_on", value={"texts": "many"}), "trained_on"),
    ("unigram", put("model", "scores", value=[["▁", -1.0]]), "no score"),
    ("unigram", put("model", "scores", value=[["▁", float("nan")]]), "finite"),
    ("unigram", put("model", "scores", value=[["▁", -1.0], ["▁", -1.0]]), "twice"),
    ("unigram", put("model", "scores", value=[["\U000f0000", -1.0]]), "not spelled"),
    ("unigram", put("model", "scores", value=[["▁"]]), "score"),
    ("words", put("model", "words", value=["the", "the"]), "twice"),
    ("words", put("model", "words", value=["t"]), "single"),
    ("words", put("model", "words", value=[""]), "not spelled"),
    ("words", put("model", "words", value=["</s>"]), "not spelled"),
]


@pytest.mark.parametrize(("kind", "change", "says"), DAMAGES)
def test_a_damaged_file_is_refused_with_what_is_wrong(
    tmp_path: Path,
    each_kind: dict[str, Tokenizer],
    kind: TokenizerKind,
    change: Callable[[dict[str, Any]], None],
    says: str,
) -> None:
    content = json.loads(json.dumps(each_kind[kind].as_dict()))
    change(content)
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=says):
        load_tokenizer(tmp_path / "tokenizer.json")

"""A text in two parts: what is encoded inside adds its own bytes and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, normalizers, pre_tokenizers

from pellucid.tokenizers import ImportedTokenizer, LanguageTokenizer, TokenizerConfig, train_tokenizer
from pellucid.tokenizers.imported import SpecialIds

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def imported(scheme: str) -> ImportedTokenizer:
    spellings = {f"<0x{value:02X}>": value for value in range(256)}
    for piece in ("▁", "a", "b", "▁a", "ab"):
        spellings[piece] = len(spellings)
    rust = RustTokenizer(models.BPE(spellings, [("▁", "a"), ("a", "b")], byte_fallback=True))
    if scheme == "prepend":
        rust.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        rust.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    content: dict[str, Any] = json.loads(rust.to_str())
    return ImportedTokenizer(content, SpecialIds(None, (), False))


TOKENIZERS: dict[str, LanguageTokenizer] = {
    "own": train_tokenizer(["a b ab 12 猫!"] * 3, TokenizerConfig(vocab_size=300)),
    **{scheme: imported(scheme) for scheme in ("prepend", "always", "first", "never")},
}


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXTS)
def test_what_is_encoded_inside_adds_the_bytes_of_the_text(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]
    assert b"".join(map(tokenizer.id_to_bytes, tokenizer.encode_continuation(text))) == text.encode()


@pytest.mark.parametrize("name", TOKENIZERS)
@given(first=TEXTS, second=TEXTS)
def test_two_parts_are_one_text(name: str, first: str, second: str) -> None:
    tokenizer = TOKENIZERS[name]
    whole = f"x{first}"
    assert tokenizer.decode([*tokenizer.encode(whole), *tokenizer.encode_continuation(second)]) == whole + second


@pytest.mark.parametrize("name", TOKENIZERS)
def test_at_the_start_of_a_text_the_space_that_encoding_put_there_is_no_text(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    first, *rest = tokenizer.encode("ab")
    assert b"".join([tokenizer.id_to_bytes(first, at_start=True), *map(tokenizer.id_to_bytes, rest)]) == b"ab"

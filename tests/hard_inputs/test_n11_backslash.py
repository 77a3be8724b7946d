r"""N11: `NT AUTHORITY\СИСТЕМА`: nothing is dropped at a backslash."""

import pytest

from pellucid.generation.placeholders import protect, restore_placeholders
from pellucid.generation.sentence_splitting import split_sentences
from pellucid.generation.text_splitting import TextSplitter
from tests.generation.small_translator import small_tokenizer, small_translator

TEXTS = ["NT AUTHORITY\\СИСТЕМА", "\\", "a\\nb", "C:\\new\\table", "\\\\server\\share", "\\u0041 \\x41"]


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_model_reads_is_the_whole_text(text: str) -> None:
    tokenizer = small_tokenizer()
    assert restore_placeholders(*protect(text)) == text
    assert "".join(split_sentences(text)) == text
    [part] = TextSplitter(tokenizer, 100, True, 10).split(text).parts
    assert tokenizer.decode(part.ids) == text


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_model_writes_is_not_cut_at_a_backslash(text: str) -> None:
    found = small_translator().translate("Hund", prefix=text)
    assert found.text.startswith(text)

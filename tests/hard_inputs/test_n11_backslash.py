r"""N11: `NT AUTHORITY\СИСТЕМА`: nothing is dropped at a backslash."""

import pytest

from pellucid.generation.parts import PartMaker
from pellucid.generation.placeholders import protect, put_back
from pellucid.generation.sentences import split_sentences
from tests.generation.small_translator import small_tokenizer, small_translator

TEXTS = ["NT AUTHORITY\\СИСТЕМА", "\\", "a\\nb", "C:\\new\\table", "\\\\server\\share", "\\u0041 \\x41"]


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_model_reads_is_the_whole_text(text: str) -> None:
    tokenizer = small_tokenizer()
    assert put_back(*protect(text)) == text
    assert "".join(split_sentences(text)) == text
    [part] = PartMaker(tokenizer, 100, True, 10).plan(text).parts
    assert tokenizer.decode(part.ids) == text


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_model_writes_is_not_cut_at_a_backslash(text: str) -> None:
    found = small_translator().translate("Hund", prefix=text)
    assert found.text.startswith(text)

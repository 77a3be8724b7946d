import pytest

from pellucid.translator import Translator
from tests.generation.small_translator import small_translator


@pytest.fixture
def translator() -> Translator:
    return small_translator()

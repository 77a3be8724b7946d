"""The commands of the guides to looking inside run, word for word, and write what they say."""

import re
import shlex
from pathlib import Path

import numpy
import pytest

from pellucid.cli.app import main
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.tokenizers import TokenizerConfig, train_tokenizer
from pellucid.translator import Translator
from pellucid.vectors import WordVectors
from tests.conftest import ROOT
from tests.generation.small_translator import TEXTS, save_translator
from tests.inspection.conftest import translator_of

GUIDES = ("looking-inside.md", "looking-inside.zh.md")


def commands(guide: str) -> list[str]:
    text = (ROOT / "docs" / "guides" / guide).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("pellucid look ")]


def knowing(text: str) -> Translator:
    """Return a translator of random weights to which every character of a text is a token."""
    like = translator_of("sinusoidal")
    tokenizer = train_tokenizer([*TEXTS, text], TokenizerConfig(kind="characters"))
    model = EncoderDecoder(like.model.config, tokenizer.vocab_size, tokenizer.vocab_size, tokenizer.pad_id)
    return Translator(model, tokenizer, tokenizer, like.config, target_language="en")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with demo-model and vectors, of random weights, and a folder for pictures."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "docs" / "pictures").mkdir(parents=True)
    (folder / "demo-model").mkdir()
    save_translator(folder / "demo-model", knowing("那只狗昨天吃了三条鱼。"))
    words = ["猫", "狗", "鱼", "吃"]
    WordVectors(words, numpy.random.default_rng(1).normal(size=(4, 8))).save(folder / "vectors")
    return folder


@pytest.mark.parametrize("command", sorted({line for guide in GUIDES for line in commands(guide)}))
def test_a_command_of_the_guides_runs(
    command: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    words = shlex.split(command)[1:]
    assert main(words) == 0
    if "-o" in words:
        assert (place / words[words.index("-o") + 1]).stat().st_size > 500
    else:
        assert capsys.readouterr().out


def test_both_guides_have_the_same_commands() -> None:
    assert commands(GUIDES[0]) == commands(GUIDES[1])
    assert len(commands(GUIDES[0])) > 5


@pytest.mark.parametrize("guide", GUIDES)
def test_every_picture_is_made_by_a_command_of_its_guide(guide: str) -> None:
    text = (ROOT / "docs" / "guides" / guide).read_text(encoding="utf-8")
    shown = {f"docs/pictures/{name}" for name in re.findall(r"\]\(\.\./pictures/([\w.-]+)\)", text)}
    made = {words[words.index("-o") + 1] for words in map(shlex.split, commands(guide)) if "-o" in words}
    assert shown
    assert shown <= made

"""`pellucid generate`, `chat`, and `score` and `evaluate` of language models, as a user runs them."""

import io
import json
import math
import shutil
import sys
from pathlib import Path

import pytest

from pellucid.cli.app import main
from pellucid.storage.model_folder import write_json
from tests.generation.small_language_model import (
    imported_language_model,
    save_language_model,
    small_language_model,
)

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_language_model(tmp_path_factory.mktemp("model"), small_language_model())


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = imported_language_model(max_positions=64)
    return save_language_model(tmp_path_factory.mktemp("talker"), model)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> "Typed":
    return Typed(monkeypatch)


class Typed:
    """`typed("…")` makes the text what comes through standard input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, text: str) -> None:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_text_is_continued_and_what_is_to_be_known_goes_to_stderr(folder: Path, capsys: Captured) -> None:
    expected = small_language_model().generate("The cat", seed=3)
    assert main(["generate", str(folder), "The cat", "--seed", "3"]) == 0
    said = capsys.readouterr()
    assert said.out == expected.text + "\n"
    assert "12 tokens, length, seed 3" in said.err


def test_what_streams_is_the_same(folder: Path, capsys: Captured) -> None:
    assert main(["generate", str(folder), "The cat", "--stream", "--seed", "3"]) == 0
    assert capsys.readouterr().out == small_language_model().generate("The cat", seed=3).text + "\n"
    assert main(["generate", str(folder), "The cat", "--stream", "--seed", "3", "--json"]) == 0
    *parts, whole = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "".join(part["text"] for part in parts) == whole["text"]
    assert whole["finish_reason"] == "length"


def test_json_has_both_probabilities_of_each_token(folder: Path, capsys: Captured) -> None:
    arguments = ["--top-k", "3", "--alternatives", "5", "-n", "4", "--temperature", "0.5", "--json"]
    assert main(["generate", str(folder), "The cat", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {
        "prompt",
        "prompt_tokens",
        "seed",
        "text",
        "finish_reason",
        "stop",
        "log_prob",
        "tokens",
        "warnings",
    }
    assert len(found["tokens"]) == 4
    for token in found["tokens"]:
        assert token["log_prob"] < 0 and token["sampling_log_prob"] <= 0
        assert len(token["alternatives"]) == 5
        can_be_drawn = [other for other in token["alternatives"] if other["sampling_log_prob"] is not None]
        assert len(can_be_drawn) <= 3


def test_several_samples_stand_below_their_numbers(folder: Path, capsys: Captured) -> None:
    assert main(["generate", str(folder), "The cat", "--samples", "2"]) == 0
    samples = small_language_model().generate("The cat", samples=2).samples
    assert capsys.readouterr().out == "".join(f"--- {n}\n{sample.text}\n" for n, sample in enumerate(samples, 1))


def test_a_file_has_a_prompt_a_line(folder: Path, tmp_path: Path, capsys: Captured, typed: Typed) -> None:
    (tmp_path / "prompts.txt").write_text("The cat\n\nHund\n", encoding="utf-8")
    assert main(["generate", str(folder), "--file", str(tmp_path / "prompts.txt"), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["line"], one["prompt"]) for one in found] == [(1, "The cat"), (2, ""), (3, "Hund")]
    typed("The cat\nHund\n")
    assert main(["generate", str(folder), "--file", "-"]) == 0
    assert capsys.readouterr().out.count("\n") == 2


def test_a_prompt_without_the_ending_that_was_learnt_is_told(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    asked = tmp_path / "asked"
    shutil.copytree(folder, asked)
    write_json(asked / "report.json", {"data": {"with_prompt": 2, "prompt_ending": "\n"}})
    (tmp_path / "prompts.txt").write_text("The cat\n", encoding="utf-8")
    told = 'The prompts that this model was trained on end with "\\n"'
    for arguments, expected in (["The cat"], True), (["The cat\n"], False), ([], False):
        assert main(["generate", str(asked), *arguments]) == 0
        assert (told in capsys.readouterr().err) is expected
    assert main(["generate", str(asked), "--file", str(tmp_path / "prompts.txt")]) == 0
    assert told in capsys.readouterr().err
    assert main(["generate", str(folder), "The cat"]) == 0
    assert told not in capsys.readouterr().err


def test_a_prompt_comes_through_a_pipe_lines_and_all(folder: Path, capsys: Captured, typed: Typed) -> None:
    typed("The cat\nate\n")
    assert main(["generate", str(folder), "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prompt"] == "The cat\nate"


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["a", "b"], 2, "expected one prompt, got 2"),
        (["a", "--file", "x"], 2, "cannot be combined"),
        (["--file", "x", "--stream"], 2, "cannot be combined"),
        (["a", "--temperture", "1"], 2, "unknown option --temperture"),
        (["a", "--temperature", "-1"], 1, "temperature"),
        (["a", "--top-p", "1.5"], 1, "top_p"),
        (["x" * 400], 1, "the model reads 32 at once"),
        (["a", "--precision", "float16"], 2, "float16"),
    ],
)
def test_mistakes_are_told(flags: list[str], code: int, words: str, folder: Path, capsys: Captured) -> None:
    assert main(["generate", str(folder), *flags]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_a_conversation_is_a_line_an_answer(talker: Path, capsys: Captured, typed: Typed) -> None:
    typed("The cat\n\nHund\n")
    assert main(["chat", str(talker), "--seed", "2", "-n", "6"]) == 0
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    typed("The cat\n/new\nHund\n")
    assert main(["chat", str(talker), "--seed", "2", "-n", "6"]) == 0
    again = capsys.readouterr().out
    assert again != said.out  # the second answer did not see the first exchange
    assert again.startswith(said.out[:1])


def test_a_conversation_longer_than_the_context_forgets_aloud(talker: Path, capsys: Captured, typed: Typed) -> None:
    typed("The cat ate\n" * 4)
    assert main(["chat", str(talker), "-n", "4", "--system", "猫"]) == 0
    assert "oldest exchange is dropped" in capsys.readouterr().err


def test_a_line_longer_than_the_context_is_an_error(talker: Path, capsys: Captured, typed: Typed) -> None:
    typed("猫" * 100 + "\n")
    assert main(["chat", str(talker)]) == 1
    assert "the model reads 64 at once" in capsys.readouterr().err


def test_a_model_that_was_not_taught_says_so_at_once(folder: Path, capsys: Captured, typed: Typed) -> None:
    typed("")
    assert main(["chat", str(folder)]) == 1
    assert "cannot chat" in capsys.readouterr().err


def test_a_model_trained_on_prompts_gets_each_line_as_a_prompt(tmp_path: Path, capsys: Captured, typed: Typed) -> None:
    model = small_language_model()
    save_language_model(tmp_path, model)
    write_json(tmp_path / "report.json", {"data": {"with_prompt": 3, "prompt_ending": "\n"}})
    typed("Hund\nThe cat\n")
    assert main(["chat", str(tmp_path), "--temperature", "0"]) == 0
    answers = [model.generate(f"{prompt}\n", temperature=0).text for prompt in ("Hund", "The cat")]
    assert capsys.readouterr().out == "".join(f"{answer}\n" for answer in answers)
    typed("Hund\n")
    assert main(["chat", str(tmp_path), "--system", "Be brief."]) == 1
    assert "single prompts" in capsys.readouterr().err


def test_score_of_a_text_after_another(folder: Path, capsys: Captured) -> None:
    assert main(["score", str(folder), "--text", "de", "--given", "abc", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    expected = small_language_model().score("de", "abc")
    assert found["total"] == pytest.approx(expected.total, abs=1e-4)
    assert [token["text"] for token in found["tokens"]] == [token.text for token in expected.tokens]


def test_score_of_files_has_a_line_a_document(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.txt").write_text("The cat\nHund\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"prompt": "Hund:", "completion": " dog"}\n', encoding="utf-8")
    assert main(["score", str(folder), str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl")]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 3
    assert all(float(line) < 0 for line in said.out.splitlines())
    assert "each line is a document" in said.err and "3 texts" in said.err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "expected either files or --text"),
        (["x", "--text", "a"], "expected either files or --text"),
        (["x", "--given", "a"], "--text"),
    ],
)
def test_score_wants_files_or_a_text(flags: list[str], words: str, folder: Path, capsys: Captured) -> None:
    assert main(["score", str(folder), *flags]) == 2
    assert words in capsys.readouterr().err


def test_evaluate_gives_perplexity_and_bits_with_the_windows_stated(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    text = tmp_path / "a.txt"
    text.write_text("The cat ate three fish yesterday.\n" * 20, encoding="utf-8")
    arguments = ["evaluate", str(folder), str(text), "--documents", "file", "--stride", "8"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"loss", "perplexity", "bits_per_byte", "tokens"}
    assert found["perplexity"] == pytest.approx(math.exp(found["loss"]))
    assert (found["documents"], found["context"], found["stride"]) == (1, 32, 8)
    assert main([*arguments, "--compare", str(folder)]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 2
    assert "windows of 32 tokens, 8 apart" in said.err


def test_a_faulty_line_is_named(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    text = tmp_path / "a.txt"
    text.write_bytes(b"The cat\n\xff\xfe\n")
    for command in ("score", "evaluate"):
        assert main([command, str(folder), str(text)]) == 1
        assert f"{text}:2" in capsys.readouterr().err

"""Documents from plain text and JSONL: where they begin and end, what is mended, what is refused."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from pellucid.corpus.config import Boundary, DocumentsConfig
from pellucid.corpus.doctor.document_examination import DocumentExamination, examine_documents
from pellucid.corpus.doctor.report import excerpt
from pellucid.corpus.document_splitting import hold_out_documents
from pellucid.corpus.documents import MAX_PART, Document, detect_boundary, read_documents
from pellucid.corpus.pairs import Location
from pellucid.errors import UsageError, UserError


def written(path: Path, text: str) -> str:
    path.write_bytes(text.encode("utf-8"))
    return str(path)


def texts(file: str, cut: Boundary) -> list[tuple[str, int]]:
    """Return the documents of a file and their lines."""
    return [(raw.document.text, raw.document.location.line) for raw in read_documents(file, cut)]


def test_a_document_is_a_line_a_block_or_a_file(tmp_path: Path) -> None:
    file = written(tmp_path / "a.txt", "\n\n  one\ntwo  \n\n \t\n\nthree\n\n")
    assert texts(file, "line") == [("one", 3), ("two", 4), ("three", 8)]
    assert texts(file, "blank-line") == [("  one\ntwo  ", 3), ("three", 8)]
    assert texts(file, "file") == [("  one\ntwo  \n\n\n\nthree", 3)]


def test_windows_line_ends_are_line_ends(tmp_path: Path) -> None:
    file = written(tmp_path / "a.txt", "one\r\n\r\ntwo\r\nthree")
    assert texts(file, "blank-line") == [("one", 1), ("two\nthree", 3)]


def test_a_long_document_comes_in_parts_that_are_the_whole(tmp_path: Path) -> None:
    lines = [f"line {number} " + "x" * 90 + ("\n" if number % 50 == 0 else "") for number in range(2500)]
    text = "\n".join(lines)
    for cut in ("file", "blank-line"):
        parts = [raw.document for raw in read_documents(written(tmp_path / "a.txt", text), cut)]
        documents = "".join(("\x00" if part.begins else "") + part.text for part in parts).split("\x00")[1:]
        assert documents == ([text] if cut == "file" else text.split("\n\n"))
        assert all(len(part.text) <= MAX_PART + 200 for part in parts)
        assert [part.begins for part in parts[1:]] == [part.ends for part in parts[:-1]]
        assert parts[-1].ends
    first = next(read_documents(str(tmp_path / "a.txt"), "file")).document
    assert first.text.endswith("\n")
    assert not first.ends


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a poem\nanother\n", "line"),
        ("\none line\n\n", "line"),
        ("A SPEECH.\nShort.\n\nANOTHER.\nShort too.\n" * 5, "file"),
        (("A chapter. " * 50 + "\n") * 3 + "\n" + "Another. " * 60, "blank-line"),
        ("", "line"),
    ],
)
def test_what_ends_a_document_is_seen_from_the_blank_lines(tmp_path: Path, text: str, cut: str) -> None:
    assert detect_boundary(written(tmp_path / "a.txt", text)) == cut


def test_jsonl_has_texts_or_prompts_with_completions(tmp_path: Path) -> None:
    lines = [{"text": "a\r\nb"}, {"prompt": "q", "completion": " a"}, {"text": "  "}, {"text": "c", "other": 3}]
    file = written(tmp_path / "a.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n\n")
    documents = [raw.document for raw in read_documents(file, "line")]
    assert [(document.prompt, document.text) for document in documents] == [("", "a\nb"), ("q", " a"), ("", "c")]
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"prompt": "q", "completion": "a"}\n'))
    assert [raw.document.prompt for raw in read_documents(str(packed), "line")] == ["q"]


@pytest.mark.parametrize(
    ("line", "check", "said"),
    [
        ('{"prompt": "q"}', "json", "no field completion"),
        ('{"text": "t", "prompt": "p", "completion": "c"}', "json", "got both"),
        ('{"text": 3}', "json", "not a string: field text"),
        ("{", "json", "not JSON"),
        ("[1]", "json", "not a JSON object"),
        ('{"text": "\\ud83d"}', "encoding", "lone surrogate"),
    ],
)
def test_what_is_no_document_is_told_with_its_line(tmp_path: Path, line: str, check: str, said: str) -> None:
    file = written(tmp_path / "a.jsonl", f'{{"text": "fine"}}\n{line}\n')
    report = examine_documents([file], DocumentsConfig()).report
    (problem,) = report.errors
    assert (problem.check, problem.file, problem.line) == (check, file, 2)
    assert said in problem.message
    left = examine_documents([file], DocumentsConfig(drop=(check,)))
    assert [document.text for document in left.documents()] == ["fine"]


def test_a_prompt_without_a_completion_is_left_out_and_told_and_a_line_is_wrong_once(tmp_path: Path) -> None:
    lines = [{"prompt": "a", "completion": ""}, {"prompt": "b", "completion": " "}, {"prompt": "c", "completion": "d"}]
    file = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    found = examine_documents([file], DocumentsConfig())
    assert [document.prompt for document in found.documents()] == ["c"]
    assert (found.report.documents, found.report.usable, found.report.counts["blank"]) == (3, 1, 2)
    kept = examine_documents([file], DocumentsConfig(keep=("blank",)))
    assert [(document.prompt, document.text) for document in kept.documents()] == [("a", ""), ("b", " "), ("c", "d")]
    neither = examine_documents([written(tmp_path / "b.jsonl", "{}\n")], DocumentsConfig()).report
    assert neither.counts["json"] == 1


def examined(tmp_path: Path, content: bytes, **options: object) -> DocumentExamination:
    file = tmp_path / "text.txt"
    file.write_bytes(content)
    return examine_documents([file], DocumentsConfig.model_validate(options))


def test_bytes_that_are_no_utf8_are_refused_by_line(tmp_path: Path) -> None:
    (problem,) = examined(tmp_path, b"fine\n\xff\xfeoh\n").report.errors
    assert (problem.check, problem.line) == ("encoding", 2)
    assert "byte 1 of the line is 0xff" in problem.message


def test_marks_separators_and_controls_are_mended_and_told(tmp_path: Path) -> None:
    found = examined(tmp_path, "\ufeffone\u2028two\x07\tthree\nfour\n".encode())
    assert [document.text for document in found.documents()] == ["one two\tthree", "four"]
    assert {check for check, count in found.report.counts.items() if count} == {
        "bom", "line-separator", "control-character",
    }  # fmt: skip
    assert all(problem.line == 1 and problem.level == "warn" for problem in found.report.issues)


def test_repetitions_are_left_out_and_counted(tmp_path: Path) -> None:
    found = examined(tmp_path, b"same\nother\nsame\nsame\n")
    assert [document.text for document in found.documents()] == ["same", "other"]
    assert found.report.counts["duplicate"] == 2
    assert "2 documents left out" in "\n".join(found.report.summary_lines())
    kept = examined(tmp_path, b"same\nother\nsame\nsame\n", keep="duplicate")
    assert kept.report.usable == 4


def test_what_stands_in_the_validation_text_is_left_out(tmp_path: Path) -> None:
    valid = examine_documents([written(tmp_path / "valid.txt", "two\nthree\n")], DocumentsConfig())
    file = written(tmp_path / "a.txt", "one\ntwo\n")
    found = examine_documents([file], DocumentsConfig(), valid.documents)
    assert [document.text for document in found.documents()] == ["one"]
    assert found.report.counts["leak"] == 1


def test_a_text_without_anything_is_refused(tmp_path: Path) -> None:
    (problem,) = examined(tmp_path, b"\n \n").report.errors
    assert problem.check == "empty"
    with pytest.raises(UsageError, match="no files given"):
        examine_documents([], DocumentsConfig())


def test_a_text_that_changes_after_it_was_examined_is_noticed(tmp_path: Path) -> None:
    found = examined(tmp_path, b"one\ntwo\n")
    (tmp_path / "text.txt").write_bytes(b"one\ntwo, three\n")
    with pytest.raises(UserError, match="has changed"):
        list(found.documents())


def test_checks_of_pairs_are_none_of_a_text(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="no check is called 'swapped'"):
        DocumentsConfig(drop=("swapped",))
    with pytest.raises(ValidationError, match="encoding cannot be among those to keep"):
        DocumentsConfig(keep=("encoding",))


def stream(documents: list[Document]) -> Iterator[Document]:
    return iter(documents)


def documents_of(lengths: list[int]) -> list[Document]:
    """Return documents of lines of nine characters, in parts of 111 lines: parts end with lines."""
    made = []
    for number, length in enumerate(lengths):
        text = "".join(f"{number:3} {line:4}\n" for line in range(-(-length // 9)))[:length]
        parts = [text[start : start + 999] for start in range(0, len(text), 999)]
        for place, part in enumerate(parts):
            made.append(Document(part, Location("f", 1), "", place == 0, place == len(parts) - 1))
    return made


def joined(documents: Iterator[Document]) -> list[str]:
    """Return whole documents, and check that each begins once and ends once."""
    whole: list[str] = []
    ended = True
    for part in documents:
        assert part.begins == ended
        if part.begins:
            whole.append("")
        whole[-1] += part.text
        ended = part.ends
    assert ended
    return whole


@given(st.lists(st.integers(1, 9000), min_size=1, max_size=6))
@example([7358])  # the border is the end of a part
def test_of_few_documents_the_last_pages_are_held_out(lengths: list[int]) -> None:
    documents = documents_of(lengths)
    held = hold_out_documents(lambda: stream(documents), len(lengths))
    training, valid = joined(held.training()), joined(held.valid())
    assert len(training) == len(lengths)
    assert len(valid) == sum(length >= 2000 for length in lengths)
    rest = iter(valid)
    for number, (whole, kept) in enumerate(zip(joined(stream(documents)), training, strict=True)):
        if lengths[number] < 2000:
            assert kept == whole
            continue
        last = next(rest)
        assert whole == kept + "\n" + last  # cut at a line end, which belongs to neither
        assert 0.04 * len(whole) <= len(last) <= 0.05 * len(whole) + 1


def test_of_many_documents_some_are_held_out_by_their_hash() -> None:
    documents = [Document(f"text {number % 900}", Location("f", number + 1)) for number in range(1000)]
    held = hold_out_documents(lambda: stream(documents), 1000)
    training, valid = joined(held.training()), joined(held.valid())
    assert len(training) + len(valid) == 1000
    assert len(set(valid)) == 100
    assert set(training).isdisjoint(valid)
    again = hold_out_documents(lambda: stream(documents[::-1]), 1000)
    assert set(joined(again.valid())) == set(valid)


def test_the_answer_to_a_prompt_is_never_cut() -> None:
    long = [Document("x\n" * 2000, Location("f", 1), "prompt")]
    held = hold_out_documents(lambda: stream(long), 1)
    assert list(held.training()) == long
    assert list(held.valid()) == []


def test_an_excerpt_is_one_line() -> None:
    assert excerpt("German: dog\n") == "“German: dog⏎”"
    assert excerpt("a\nb" * 50, 5) == "“a⏎ba…”"

"""Blank in, blank out; as many lines out as in, whatever stands in them."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.cli.translate import translate
from tests.generation.small_translator import save_translator, small_translator

BLANKS = ["", " ", "\t", "\u3000", "\u00a0 ", "\u2028"]


def test_blank_texts_come_back_as_they_are() -> None:
    assert [one.text for one in small_translator().translate(BLANKS)] == BLANKS


@given(st.lists(st.sampled_from([*BLANKS, "Hund", "The cat. Hund!", "a\u2028b", "a\u0085b\x0c", "x\ry", "猫"])))
@settings(max_examples=10)
def test_a_list_keeps_its_length_and_its_blanks(texts: list[str]) -> None:
    found = small_translator().translate(texts)
    assert len(found) == len(texts)
    for text, one in zip(texts, found, strict=True):
        if not text.strip():
            assert one.text == text


def test_a_file_keeps_its_line_count(tmp_path: Path) -> None:
    folder = save_translator(tmp_path, small_translator())
    lines = [b"\xef\xbb\xbfHund", b"", "a\u2028b \u0085 c".encode(), b"   ", b"x\ry\r", b"The cat. " * 50, b"", b"end"]
    (tmp_path / "in.txt").write_bytes(b"\n".join(lines))
    translate(folder, str(tmp_path / "in.txt"), output=tmp_path / "out.txt")
    out = (tmp_path / "out.txt").read_bytes()
    assert out.endswith(b"\n")
    written = out.split(b"\n")[:-1]
    assert len(written) == len(lines)
    assert [n for n, line in enumerate(written) if not line.strip()] == [1, 3, 6]
    (tmp_path / "empty.txt").write_bytes(b"")
    translate(folder, str(tmp_path / "empty.txt"), output=tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == b""

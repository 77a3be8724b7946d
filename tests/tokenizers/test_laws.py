"""What holds for every kind of tokenizer and every text."""

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pellucid.tokenizers import Tokenizer, TokenizerConfig, load_tokenizer, train_tokenizer
from pellucid.tokenizers.config import TokenizerKind
from pellucid.tokenizers.tokenizer import SPECIAL_IDS

SPELLINGS = (
    *("</s>", "<s>", "<unk>", "<pad>", "[MASK]", "<0x41>", "<0xE6>", "▁", "▁the", " ", "  ", "\t", "\n", "\r\n", "\0"),
    *(
        "\u2028",
        "\ufeff",
        "\u00a0",
        "\u3000",
        "\u200d",
        "é",
        "e\u0301",
        "猫",
        "那只猫",
        "水",
        "𠮷",
        "🤗",
        "👩‍👩‍👧",
        "%s",
    ),
    *("\U000f0000", "\U000f0041", "\U000f0100", "\U000f01ff", "\U0010ffff", "\ufffd", "the", "cat", "CAT", "150", "١٢"),
)
texts = st.lists(st.sampled_from(SPELLINGS) | st.text(max_size=8), max_size=12).map("".join)
segments = st.lists(texts | st.integers(0, 9), max_size=6)


@given(text=texts)
@example(text="")
@example(text=" ")
@example(text="▁")
@example(text=" ▁ \U000f0020")
@example(text=" 猫")
@example(text="\u0301the")
def test_decoding_gives_the_text_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert all(SPECIAL_IDS <= number < tokenizer.vocab_size for number in ids), "a special id came out of text"
    assert tokenizer.encode_batch([text, "", text]) == [ids, [], ids]


@given(text=texts)
@example(text="Seán, 水 🤗")
def test_bytes_and_offsets_of_pieces_add_up_to_the_text(tokenizer: Tokenizer, text: str) -> None:
    pieces = tokenizer.pieces(text)
    assert [piece.id for piece in pieces] == tokenizer.encode(text)
    assert b"".join(piece.bytes for piece in pieces) == text.encode()
    reached = done = 0
    for piece in pieces:
        covered = text[piece.start : piece.end].encode()
        begins = len(text[: piece.start].encode())
        assert piece.start <= reached <= piece.end or (piece.start == reached == piece.end)
        assert covered[done - begins :].startswith(piece.bytes)
        assert piece.bytes == covered or (piece.end - piece.start == 1 and len(piece.bytes) == 1)
        assert piece.display and piece.display.isprintable()
        done += len(piece.bytes)
        reached = piece.end
    assert reached == len(text)


@given(parts=segments)
def test_placeholders_come_back_where_they_stood(tokenizer: Tokenizer, parts: list[str | int]) -> None:
    canonical: list[str | int] = []
    for part in parts:
        if isinstance(part, str) and canonical and isinstance(last := canonical[-1], str):
            canonical[-1] = last + part
        elif part != "":
            canonical.append(part)
    ids = tokenizer.encode_segments(parts)
    assert tokenizer.decode_segments(ids) == canonical
    placed = [number - tokenizer.placeholder_ids[0] for number in ids if number in tokenizer.placeholder_ids]
    assert placed == [part for part in parts if isinstance(part, int)]
    assert tokenizer.decode(ids) == "".join(part for part in parts if isinstance(part, str))


@given(data=st.data())
def test_any_ids_decode_and_their_pieces_cover_the_text(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1) | st.integers(0, SPECIAL_IDS + 255), max_size=20))
    text = tokenizer.decode(ids)
    text.encode()
    pieces = tokenizer.pieces_from_ids(ids)
    assert [piece.id for piece in pieces] == ids
    assert max((piece.end for piece in pieces), default=0) == len(text)
    for piece in pieces:
        assert 0 <= piece.start <= piece.end <= len(text)
        assert bool(piece.bytes) == (piece.start < piece.end)
        assert piece.display


@given(text=texts, dropout=st.floats(0.01, 1), seed=st.integers(0, 2**63))
def test_merges_left_out_at_random_leave_the_text_as_it_is(
    bpe: Tokenizer, text: str, dropout: float, seed: int
) -> None:
    first = bpe.encode_batch([text, text], dropout=dropout, seed=seed)
    assert [bpe.decode(ids) for ids in first] == [text, text]
    assert bpe.encode_batch([text, text], dropout=dropout, seed=seed) == first
    assert all(SPECIAL_IDS <= number < bpe.vocab_size for ids in first for number in ids)


@given(
    lines=st.lists(texts, min_size=1, max_size=8).filter(any),
    kind=st.sampled_from(("bpe", "unigram", "words", "characters")),
)
def test_every_law_holds_whatever_the_training_text(lines: list[str], kind: TokenizerKind, folder: Path) -> None:
    tokenizer = train_tokenizer(lines * 2, TokenizerConfig(kind=kind, vocab_size=400))
    tokenizer.save(folder / "tokenizer.json")
    loaded = load_tokenizer(folder / "tokenizer.json")
    assert loaded.as_dict() == tokenizer.as_dict()
    assert tokenizer.vocab_size <= 400
    for line in lines:
        ids = tokenizer.encode(line)
        assert tokenizer.decode(ids) == line
        assert all(SPECIAL_IDS <= number < tokenizer.vocab_size for number in ids)
        assert loaded.encode(line) == ids
        assert [piece for piece in loaded.pieces(line)] == tokenizer.pieces(line)

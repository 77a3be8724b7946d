"""Numbers drawn in a terminal: what is long is shortened, and that is said."""

import numpy

from pellucid.cli.look_drawing import draw, draw_table
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.views.view import ViewTable


def array(rows: int, columns: int, unit: str) -> LabelledArray:
    axes = (Axis("query", tuple(f"q{i}" for i in range(rows))), Axis("key", tuple(f"k{i}" for i in range(columns))))
    return LabelledArray("weights", numpy.full((rows, columns), 0.5), axes, unit, "made up")


def test_a_map_of_a_long_text_is_its_beginning() -> None:
    for unit in ("share", "cosine"):
        lines = draw(array(6000, 6000, unit), columns=80)
        assert len(lines) < 1000
        assert "entries of query; a shorter text has fewer" in lines[0]
        assert "of 6,000 entries of key" in lines[1]
        shown = "\n".join(lines)
        assert "q59" in shown
        assert "q60" not in shown


def test_a_shorter_text_is_no_advice_where_it_would_not_help() -> None:
    axes = (Axis("position", ("0", "1")), Axis("d_model", tuple(map(str, range(192)))))
    lines = draw(LabelledArray("codes", numpy.zeros((2, 192)), axes, "–", "made up"), columns=80)
    assert "d_model; --json prints all of them" in "\n".join(lines)


def test_one_of_sixty_is_whole() -> None:
    shown = "\n".join(draw(array(60, 60, "share"), columns=80))
    assert "the first" not in shown
    assert "q59" in shown
    assert "k59" in shown


def test_numbers_along_one_axis_are_shortened_too() -> None:
    axis = Axis("token", tuple(f"t{i}" for i in range(500)))
    lines = draw(LabelledArray("norms", numpy.zeros(500), (axis,), "length", "made up"), columns=80)
    assert lines[0].startswith("the first 60 of 500 entries of token")
    assert len(lines) < 70


def test_a_long_table_is_its_beginning() -> None:
    lines = draw_table(ViewTable([f"c{i}" for i in range(300)], [[i] * 300 for i in range(5)]))
    assert lines[0].startswith("the first 60 of 300 columns")
    assert "c59" in "\n".join(lines)
    assert "c60" not in "\n".join(lines)
    assert draw_table(ViewTable(["a"], [[i] for i in range(1000)]))[0].startswith("the first 200 of 1,000 rows")

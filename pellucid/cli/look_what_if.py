"""`pellucid look --what-if`: the same run once more with something changed, and what that did."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.cli import console
from pellucid.cli.flags import ModelFlags
from pellucid.cli.look_drawing import show_view
from pellucid.cli.look_flags import PictureFlags

if TYPE_CHECKING:
    from pellucid.inspection.effect import Effect
    from pellucid.inspection.look import Look
    from pellucid.inspection.views.view import View

__all__ = ["show_what_if"]


def show_what_if(
    folder: Path,
    text: str,
    target: str | None,
    edits: Sequence[str],
    picture: PictureFlags,
    as_json: bool,
    flags: ModelFlags,
) -> None:
    """Run a model plainly and edited; draw, write or print the difference, or a view of the edited run."""
    picture.reject_without_view()
    from pellucid.inspection.edit_commands import apply_edits
    from pellucid.inspection.views.catalogue import build_view, save_view, taps_for_view
    from pellucid.inspection.views.pages import write_page
    from pellucid.inspection.views.view import ViewRequest
    from pellucid.inspection.views.what_if import edit_view
    from pellucid.loading import load

    model: Any = load(folder, device=flags.device, precision=flags.precision)
    given = {} if target is None else {"target": target}

    def look_at(other: str, what: Sequence[str]) -> "Look":
        found: Look = model.look(other, what=what)
        return found

    run = apply_edits(model.what_if(text, **given), edits, look_at)
    effect = run.run(taps_for_view(model.model, picture.view) if picture.view else None)
    for note in effect.before.encoded.notes:
        console.warn(note)
    request = ViewRequest(effect.after, picture.layer, picture.head, None, folder)
    shown = build_view(request, picture.view) if picture.view else edit_view(effect)
    if picture.output is None:
        _tell(effect, shown, picture.head, as_json)
        return
    if picture.is_page_of_all:
        write_page(picture.output, effect.after, [shown])
    elif picture.view:
        save_view(request, picture.output, picture.view, dark=picture.dark)
    else:
        from pellucid.inspection.views.charts import save_chart

        save_chart(shown.chart(), picture.output, dark=picture.dark)
    console.log(f"{picture.output} written")


def _tell(effect: "Effect", shown: "View", head: int | None, as_json: bool) -> None:
    if as_json:
        console.data_json({**effect.as_dict(), **shown.as_dict()})
        return
    for words in effect.after.edits:
        console.data(f"edit    {words}")
    if effect.text_before is not None and effect.text_after is not None:
        console.data(f"before  {effect.text_before}")
        console.data(f"after   {effect.text_after}")
    console.data("")
    show_view(shown, effect.after.inspected.precision, head)

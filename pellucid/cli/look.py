"""`pellucid look`: what happens inside a model while it reads a text, drawn here or written as a page or a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.look_drawing import draw, draw_table
from pellucid.errors import UsageError
from pellucid.storage.model_folder import KINDS, read_config

if TYPE_CHECKING:
    from pellucid.generation.generate import LanguageModel
    from pellucid.inspection.look import Look
    from pellucid.inspection.view import View

__all__ = ["look"]

FORMS = (".html", ".png", ".svg", ".json")

_Switch = Annotated[bool, Parameter(negative="")]


def look(
    folder: Path,
    text: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    /,
    *,
    target: str | None = None,
    prefix: str = "",
    view: str = "",
    layer: int | None = None,
    head: int | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    check: _Switch = False,
    views: Annotated[bool, Parameter(name="--list", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Look inside a model while it reads a text: where it looks, what each part adds, what each layer would write.

    Layers and heads count from 0. Without -o the view is drawn in the terminal.

    Args:
        folder: Folder of the model.
        text: What it reads.
        target: A translator: the translation that its decoder reads, instead of its own.
        prefix: A translator: how its own translation must begin.
        view: Which numbers; --list has the names. Where the decoder looked, unless given; a page has all of them.
        layer: Of which layer; the last unless given.
        head: Of which head.
        output: Write a page (.html, which needs no network), a picture (.png, .svg), or its Vega-Lite (.json).
        check: Measure that the numbers are those the model uses: rows sum to 1, parts add up, fast path, cache.
        views: List the views.
        as_json: Write the numbers of the view as one line of JSON.
    """
    if views:
        _list_views(as_json)
        return
    if output is not None and output.suffix.lower() not in FORMS:
        raise UsageError(
            f"expected a file name that ends in {', '.join(FORMS)}, got {output.name}", where=f"--output {output}"
        )
    if not text:
        raise UsageError("there is no text to look at", where="pellucid look", hint='pellucid look DIR "text"')
    kind = read_config(folder)["kind"]
    if kind == "vectors":
        raise UsageError(
            f"{folder} holds {KINDS[kind]}: they read no text",
            where="pellucid look",
            hint="`pellucid vectors map` draws them, `pellucid vectors similar` asks them.",
        )
    if kind != "translator" and (target is not None or prefix):
        raise UsageError("only translators have a target", where="--target" if target is not None else "--prefix")
    from pellucid.generation.load import load
    from pellucid.inspection.view import Asked
    from pellucid.inspection.views import VIEWS, save_view, view_of

    if view and view not in VIEWS:
        view_of(Asked(None), view)  # type: ignore[arg-type]  # says which there are, before anything is loaded
    model = load(folder, device=flags.device, precision=flags.precision)
    whole = check or (output is not None and output.suffix.lower() == ".html" and not view)
    default = "alignment" if kind == "translator" else "decoder-attention"
    what = None if whole else VIEWS[view or default].what
    given: dict[str, Any] = {"target": target, "prefix": prefix} if kind == "translator" else {}
    seen = model.look(text, what=what, **given)
    for note in seen.written.notes:
        console.warn(note)
    if check:
        _tell_checks(seen, as_json)
        if kind == "language-model":
            _tell_decoder(model, seen)
        return
    asked = Asked(seen, layer, head, model, folder)
    if output is not None:
        save_view(asked, output, view)
        console.say(f"{output} written")
        return
    shown = view_of(asked, view)
    if as_json:
        console.data_json({**_tokens(seen), **shown.as_dict()})
        return
    _draw(seen, shown, head)


def _draw(seen: "Look", view: "View", head: int | None) -> None:
    if seen.source:
        console.data("source  " + " ".join(token.display for token in seen.source))
    console.data(("target  " if seen.source else "text  ") + " ".join(token.display for token in seen.target))
    console.data("")
    console.data(f"{view.title}  ({view.arrays[0].name}, {seen.subject.precision})")
    for line in draw_table(view.table) if view.table else draw(view.arrays[0], head):
        console.data(line)
    console.say("")
    console.say(view.reading)


def _list_views(as_json: bool) -> None:
    from pellucid.inspection.views import VIEWS

    if as_json:
        console.data_json([{"view": name, "title": kind.title} for name, kind in VIEWS.items()])
        return
    console.table(["view", "what it shows"], [[name, kind.title] for name, kind in VIEWS.items()])


def _tell_checks(seen: "Look", as_json: bool) -> None:
    checks = seen.check()
    if as_json:
        console.data_json([check._asdict() for check in checks])
        return
    rows = [[check.name, "not here" if check.error is None else f"{check.error:.1e}", check.bound] for check in checks]
    console.table(["promise", "largest error", "at most"], rows)


def _tell_decoder(model: "LanguageModel", seen: "Look") -> None:
    from pellucid.inspection.language_models import decoder_difference

    found = decoder_difference(model, seen)
    console.say(
        f"The decoder that generates differs from these logits by at most {found.largest:.1e} nats, and finds the same "
        f"token most probable at {found.same_choice:.0%} of the places."
    )


def _tokens(seen: "Look") -> dict[str, Any]:
    return {
        "text": seen.written.text,
        "target_text": seen.written.target_text,
        "precision": seen.subject.precision,
        "source": [token.as_dict() for token in seen.source],
        "target": [token.as_dict() for token in seen.target],
        "following": [token.as_dict() for token in seen.following],
    }

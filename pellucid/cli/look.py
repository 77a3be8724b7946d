"""`pellucid look`: what happens inside a model while it reads a text, drawn here or written as a page or a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.look_drawing import draw_checks, show_view
from pellucid.cli.look_flags import DEFAULT_PICTURE, PictureFlags
from pellucid.cli.text_lines import text_lines
from pellucid.errors import UsageError
from pellucid.storage.model_folder import read_config

if TYPE_CHECKING:
    from pellucid.inspection.look import Look
    from pellucid.inspection.views.view import View
    from pellucid.language_model import LanguageModel

__all__ = ["look"]

_MOST_SHOWN = 200  # tokens of a text above a view

_Switch = Annotated[bool, Parameter(negative="")]


def look(
    folder: Path | None = None,
    text: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    /,
    *,
    target: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    prefix: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    picture: PictureFlags = DEFAULT_PICTURE,
    what_if: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    check: _Switch = False,
    views: Annotated[bool, Parameter(name="--list", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Look inside a model while it reads a text.

    Views show where it attends, what each part adds and what each layer would predict; `--list` names them. Layers and
    heads count from 0. Without -o the view is drawn in the terminal.

    Args:
        folder: Folder of the model; of word vectors also a file.
        text: What it reads, or for word vectors some words; - reads standard input to its end.
        target: A translator: the translation that its decoder reads, instead of its own.
        prefix: A translator: how its own translation must begin.
        what_if: Change something and show what that does: "mask_token 3", "replace_token 3 dog", "ablate_head
            encoder.0.self_attention 2", "keep_heads ATTENTION 0 1", "zero NAME", "patch NAME TEXT 3", "temperature
            ATTENTION 2", "edit_source TEXT", "remove_positions"; again for more changes. With --view: that view of the
            changed run.
        check: Measure that the numbers are those the model uses: rows sum to 1, parts add up, fast path, cache.
        views: List the views and the changes.
        as_json: Write the numbers of the view as one line of JSON.
    """
    if views:
        _list_views(as_json)
        return
    if folder is None:
        raise UsageError("no model was given", where="pellucid look", hint='Run `pellucid look FOLDER "text"`.')
    text = _text(text)
    kind = _kind(folder, target, prefix)
    if kind == "vectors":
        from pellucid.cli.look_vectors import show_words

        if what_if:
            raise UsageError(
                "word vectors have no computation to change", where="--what-if", hint="Leave --what-if out."
            )
        show_words(folder, text, picture, check, as_json)
        return
    picture.reject_unknown()
    if what_if:
        from pellucid.cli.look_what_if import show_what_if

        _reject_with_edits(prefix, check)
        show_what_if(folder, text, target, what_if, picture, as_json, flags)
        return
    from pellucid.inspection.views.catalogue import build_view, save_view, taps_for_view
    from pellucid.inspection.views.view import ViewRequest
    from pellucid.loading import load

    model = load(folder, device=flags.device, precision=flags.precision)
    default = "alignment" if kind == "translator" else "decoder-attention"
    what = None if check or picture.is_page_of_all else taps_for_view(model.model, picture.view or default)
    given: dict[str, Any] = {"target": target, "prefix": prefix} if kind == "translator" else {}
    seen = model.look(text, what=what, **given)
    for note in seen.encoded.notes:
        console.warn(note)
    if check:
        _tell_checks(seen, as_json)
        if kind == "language-model":
            _tell_decoder(model, seen)
        return
    request = ViewRequest(seen, picture.layer, picture.head, model, folder, prefix)
    if picture.output is not None:
        save_view(request, picture.output, picture.view, dark=picture.dark)
        console.log(f"{picture.output} written")
        return
    shown = build_view(request, picture.view)
    if as_json:
        console.data_json({**_tokens(seen), **shown.as_dict()})
        return
    _draw(seen, shown, picture.head)


def _text(given: str) -> str:
    """Read the text to look at.

    Raises:
        UsageError: if there is none.
        UserError: if standard input is not UTF-8.
    """
    text = "\n".join(text_lines(given)) if given == "-" else given
    if not text:
        raise UsageError("no text was given", where="pellucid look", hint='Run `pellucid look FOLDER "text"`.')
    return text


def _kind(folder: Path, target: str | None, prefix: str) -> str:
    """Find the kind of the model, and check that the flags suit it."""
    kind: str = "vectors" if folder.is_file() else read_config(folder)["kind"]
    if kind != "translator" and (target is not None or prefix):
        raise UsageError(
            "only translators have a target",
            where="--target" if target is not None else "--prefix",
            hint="Leave the flag out, or give the folder of a translator.",
        )
    if target is not None and prefix:
        raise UsageError(
            "--target and --prefix exclude each other", where="pellucid look", hint="Give only one of the two."
        )
    return kind


def _reject_with_edits(prefix: str, check: bool) -> None:
    for name, is_given in (("--prefix", bool(prefix)), ("--check", check)):
        if is_given:
            raise UsageError(
                f"--what-if and {name} exclude each other", where="pellucid look", hint="Give only one of the two."
            )


def _draw(seen: "Look", view: "View", head: int | None) -> None:
    for name, tokens in (("source", seen.source), ("target" if seen.source else "text", seen.target)):
        if tokens:
            more = f" … and {len(tokens) - _MOST_SHOWN:,} more" if len(tokens) > _MOST_SHOWN else ""
            console.data(f"{name}  {' '.join(token.display for token in tokens[:_MOST_SHOWN])}{more}")
    console.data("")
    show_view(view, seen.inspected.precision, head)


def _list_views(as_json: bool) -> None:
    from pellucid.inspection.edit_commands import EDITS
    from pellucid.inspection.views.catalogue import VIEWS
    from pellucid.inspection.word_vectors import VECTOR_VIEWS

    if as_json:
        console.data_json([{"view": name, "title": kind.title} for name, kind in VIEWS.items()])
        return
    console.table(["--view", "what it shows"], [[name, kind.title] for name, kind in VIEWS.items()])
    console.log("")
    console.log(f"Of word vectors: {', '.join(VECTOR_VIEWS)}")
    console.log("")
    console.log("Changes, for --what-if:")
    for name, verb in EDITS.items():
        console.log(f"  {name} {verb.usage}")


def _tell_checks(seen: "Look", as_json: bool) -> None:
    checks = seen.check()
    if as_json:
        console.data_json([check._asdict() for check in checks])
        return
    draw_checks(checks)


def _tell_decoder(model: "LanguageModel", seen: "Look") -> None:
    from pellucid.inspection.language_models import decoder_difference

    found = decoder_difference(model, seen)
    console.log(
        f"The decoder that generates differs from these logits by at most {found.largest:.1e} nats, and finds the same "
        f"token most probable at {found.same_choice:.0%} of the places."
    )


def _tokens(seen: "Look") -> dict[str, Any]:
    return {
        "text": seen.encoded.text,
        "target_text": seen.encoded.target_text,
        "precision": seen.inspected.precision,
        "source": [token.as_dict() for token in seen.source],
        "target": [token.as_dict() for token in seen.target],
        "next_tokens": [token.as_dict() for token in seen.next_tokens],
    }

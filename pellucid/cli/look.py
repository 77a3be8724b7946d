"""`pellucid look`: show what a model computes while it reads a text, in the terminal, as a page or as a picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags, Switch, TextArgument
from pellucid.cli.inputs import text_lines
from pellucid.cli.look_drawing import show_view
from pellucid.errors import UsageError
from pellucid.loading import kind_of

if TYPE_CHECKING:
    from pellucid.inspection.checks import SanityCheck
    from pellucid.inspection.look import Look
    from pellucid.inspection.tokens import Token
    from pellucid.inspection.views.view import View

__all__ = ["look"]

_FORMATS = (".html", ".png", ".svg", ".json")
_MOST_TOKENS = 200  # of a text, printed above a view


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PictureFlags:
    """Which numbers are drawn, and where."""

    view: str = ""
    """View to show (see --list); by default alignment for translators and decoder-attention for language models; in a
    page, all views."""

    layer: int | None = None
    """Layer to show; by default the last."""

    head: int | None = None
    """Head to show; by default all, or the first in views of a single head."""

    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    """Write a page (.html, self-contained), a picture (.png, .svg) or the Vega-Lite specification (.json)."""

    dark: Switch = False
    """Draw pictures for a dark background; pages follow the reader's browser setting."""

    @property
    def has_all_views(self) -> bool:
        """Whether the output is a page with every view."""
        return self.output is not None and self.output.suffix.lower() == ".html" and not self.view

    def check(self) -> None:
        """Check the view and the file format before anything is loaded.

        Raises:
            UsageError: for an unknown view or format, or a layer or head that the view does not have.
        """
        self.check_format()
        if self.view:
            from pellucid.inspection.views.catalogue import view_type_of

            view_type_of(self.view).reject_unsupported(self.view, self.layer, self.head)

    def reject_selection(self, message: str, hint: str) -> None:
        """Reject a layer or a head; `message` goes before its name.

        Raises:
            UsageError: if one is given.
        """
        for name, number in (("layer", self.layer), ("head", self.head)):
            if number is not None:
                raise UsageError(f"{message} {name}", where=f"--{name}", hint=hint)

    def check_format(self) -> None:
        """Check the format of the picture.

        Raises:
            UsageError: for an unknown one.
        """
        if self.output is not None and self.output.suffix.lower() not in _FORMATS:
            raise UsageError(
                f"pictures have no format {self.output.suffix or 'without an extension'}",
                where=f"--output {self.output}",
                hint=f"Use a file name that ends in {', '.join(_FORMATS)}.",
            )


DEFAULT_PICTURE = PictureFlags()


def look(
    folder: Path | None = None,
    text: TextArgument[str] = "",
    /,
    *,
    target: TextArgument[str | None] = None,
    prefix: TextArgument[str] = "",
    picture: PictureFlags = DEFAULT_PICTURE,
    what_if: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    check: Switch = False,
    views: Annotated[Switch, Parameter(name="--list")] = False,
    as_json: JsonSwitch = False,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Look inside a model while it reads a text.

    Shows which token attends to which, what each part adds to the residual stream, and what each layer would predict.
    Layers and heads are numbered from 0. Without -o, the view is drawn in the terminal.

    Args:
        folder: Model folder, or a folder or file of word vectors.
        text: Text for the model to read; for word vectors, words separated by spaces; - for standard input.
        target: For translators: translation to feed to the decoder, instead of the model's own.
        prefix: For translators: text that the model's own translation must begin with.
        what_if: Edit the run and show the effect: "mask_token 3", "replace_token 3 dog", "ablate_head
            encoder.0.self_attention 2", "keep_heads ATTENTION 0 1", "zero NAME", "patch NAME TEXT 3", "temperature
            ATTENTION 2", "edit_source TEXT", "remove_positions". Repeat the option for several edits. With --view,
            show that view of the edited run.
        check: Verify that the displayed numbers match those of actual inference: weights sum to 1, parts add up, and
            the fast path and the cache give the same values.
        views: List the views and the edits.
        as_json: Print the numbers of the view as one line of JSON.
    """
    if views:
        _list_views(as_json)
        return
    if folder is None:
        raise UsageError("no model was given", where="pellucid look", hint='Write pellucid look FOLDER "text".')
    text = "\n".join(text_lines(text)) if text == "-" else text
    if not text:
        raise UsageError("no text was given", where="pellucid look", hint='Write pellucid look FOLDER "text".')
    kind = _model_kind(folder, target, prefix)
    if kind == "vectors":
        if what_if:
            raise UsageError("word vectors cannot be edited", where="--what-if", hint="Leave it out.")
        _look_at_words(folder, text, picture, check, as_json)
        return
    picture.check()
    given: dict[str, Any] = {"target": target, "prefix": prefix} if kind == "translator" else {}
    if not what_if:
        _look_at_text(folder, text, given, picture, check, as_json, flags)
        return
    for name, is_given in (("--prefix", bool(prefix)), ("--check", check)):
        if is_given:
            raise UsageError(f"--what-if cannot be combined with {name}", where=name, hint="Leave one of them out.")
    if not picture.view:
        picture.reject_selection("the effect of edits has no single", "Name a view with --view.")
    _look_at_edits(folder, text, {} if target is None else {"target": target}, what_if, picture, as_json, flags)


def _look_at_text(
    folder: Path,
    text: str,
    given: Mapping[str, Any],
    picture: PictureFlags,
    check: bool,
    as_json: bool,
    flags: ModelFlags,
) -> None:
    from pellucid.inspection.views.catalogue import build_view, default_view, save_view, taps_for_view
    from pellucid.inspection.views.view import ViewRequest
    from pellucid.loading import load

    model = load(folder, device=flags.device, precision=flags.precision)
    name = picture.view or default_view(is_translator=bool(given))
    what = None if check or picture.has_all_views else taps_for_view(model.model, name)
    seen: Look = model.look(text, what=what, **given)
    for note in seen.encoded.notes:
        console.warn(note)
    if check:
        _print_checks(seen.check(), as_json)
        if not seen.source and not as_json:
            _print_decoder_difference(model, seen)
        return
    request = ViewRequest(seen, picture.layer, picture.head, model, folder, given.get("prefix", ""))
    data = {
        "text": seen.encoded.text,
        "target_text": seen.encoded.target_text,
        "precision": seen.inspected.precision,
        **{name: [token.as_dict() for token in getattr(seen, name)] for name in ("source", "target", "next_tokens")},
    }
    lines = [*_token_line("source", seen.source), *_token_line("target" if seen.source else "text", seen.target), ""]
    _present(
        picture,
        lambda: build_view(request, picture.view),
        lambda path: save_view(request, path, picture.view, dark=picture.dark),
        as_json,
        data,
        lines,
        seen.inspected.precision,
    )


def _look_at_edits(
    folder: Path,
    text: str,
    given: Mapping[str, Any],
    edits: Sequence[str],
    picture: PictureFlags,
    as_json: bool,
    flags: ModelFlags,
) -> None:
    """Run a model unedited and edited; show the effect, or a view of the edited run."""
    from pellucid.inspection.edit_commands import apply_edits
    from pellucid.inspection.effect import effect_view
    from pellucid.inspection.views.catalogue import build_view, save_view, taps_for_view
    from pellucid.inspection.views.charts import save_chart
    from pellucid.inspection.views.pages import write_page
    from pellucid.inspection.views.view import ViewRequest
    from pellucid.loading import load

    model: Any = load(folder, device=flags.device, precision=flags.precision)
    run = apply_edits(model.what_if(text, **given), edits, lambda other, what: model.look(other, what=what))
    effect = run.run(taps_for_view(model.model, picture.view) if picture.view else None)
    for note in effect.before.encoded.notes:
        console.warn(note)
    request = ViewRequest(effect.after, picture.layer, picture.head, folder=folder)

    def save(path: Path) -> None:
        if picture.view:
            save_view(request, path, picture.view, dark=picture.dark)
        elif picture.has_all_views:
            write_page(path, effect.after, [effect_view(effect)])
        else:
            save_chart(effect_view(effect).chart(), path, dark=picture.dark)

    lines = [f"edit    {description}" for description in effect.after.edits]
    if effect.text_before is not None and effect.text_after is not None:
        lines += [f"before  {effect.text_before}", f"after   {effect.text_after}"]
    _present(
        picture,
        lambda: build_view(request, picture.view) if picture.view else effect_view(effect),
        save,
        as_json,
        effect.as_dict(),
        [*lines, ""],
        effect.after.inspected.precision,
    )


def _look_at_words(path: Path, text: str, picture: PictureFlags, check: bool, as_json: bool) -> None:
    from pellucid.loading import load

    picture.reject_selection("word vectors have no", "Leave it out.")
    picture.check_format()
    seen = load(path).look(text)
    if check:
        _print_checks(seen.check(), as_json)
        return
    data = {"text": seen.text, "tokens": [token.as_dict() for token in seen.tokens]}
    _present(
        picture,
        lambda: seen.view(picture.view),
        lambda output: seen.save(output, picture.view, dark=picture.dark),
        as_json,
        data,
        (),
    )


def _present(
    picture: PictureFlags,
    build: "Callable[[], View]",
    save: Callable[[Path], None],
    as_json: bool,
    data: Mapping[str, Any],
    lines: Sequence[str],
    precision: str = "",
) -> None:
    """Write a view to a file, print it as JSON after `data`, or draw it in the terminal below `lines`."""
    if picture.output is not None:
        save(picture.output)
        console.log(f"Wrote {picture.output}")
        return
    view = build()
    if as_json:
        console.data_json({**data, **view.as_dict()})
        return
    for line in lines:
        console.data(line)
    show_view(view, precision, picture.head)


def _model_kind(folder: Path, target: str | None, prefix: str) -> str:
    """Read the kind of a model, and check that the flags fit it."""
    kind = kind_of(folder)
    if kind != "translator" and (target is not None or prefix):
        flag = "--target" if target is not None else "--prefix"
        raise UsageError("only translators have a target", where=flag, hint="Leave it out.")
    if target is not None and prefix:
        raise UsageError("--target cannot be combined with --prefix", where="--prefix", hint="Leave one of them out.")
    return kind


def _token_line(name: str, tokens: "Sequence[Token]") -> list[str]:
    if not tokens:
        return []
    more = f" … and {len(tokens) - _MOST_TOKENS:,} more" if len(tokens) > _MOST_TOKENS else ""
    return [f"{name}  {' '.join(token.display for token in tokens[:_MOST_TOKENS])}{more}"]


def _list_views(as_json: bool) -> None:
    from pellucid.inspection.edit_commands import EDITS
    from pellucid.inspection.views.catalogue import VIEWS
    from pellucid.inspection.word_vectors import VECTOR_VIEWS

    if as_json:
        console.data_json([{"view": name, "title": view.title} for name, view in VIEWS.items()])
        return
    console.table(["--view", "shows"], [[name, view.title] for name, view in VIEWS.items()])
    console.log("")
    console.log(f"For word vectors: {', '.join(VECTOR_VIEWS)}")
    console.log("")
    console.log("Edits for --what-if:")
    for name, edit in EDITS.items():
        console.log(f"  {name} {edit.usage}")


def _print_checks(checks: "Sequence[SanityCheck]", as_json: bool) -> None:
    if as_json:
        console.data_json([check._asdict() for check in checks])
        return
    rows = [
        [check.name, "not checked" if check.error is None else f"{check.error:.1e}", check.bound] for check in checks
    ]
    console.table(["check", "largest error", "bound"], rows)


def _print_decoder_difference(model: Any, seen: "Look") -> None:
    from pellucid.inspection.checks import decoder_difference

    found = decoder_difference(model, seen)
    console.log(
        f"The decoder that generates differs from these logits by at most {found.largest:.1e} nats and finds the same "
        f"token most probable at {found.same_choice:.0%} of the positions."
    )

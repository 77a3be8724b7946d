"""`pellucid look` at word vectors: some words and every pair of them."""

from pathlib import Path

from pellucid.cli import console
from pellucid.cli.look_drawing import draw_checks, show_view
from pellucid.cli.look_flags import PictureFlags
from pellucid.errors import UsageError

__all__ = ["show_words"]


def show_words(folder: Path, text: str, picture: PictureFlags, check: bool, as_json: bool) -> None:
    """Draw, write or print a view of some words."""
    for name, value in (("--layer", picture.layer), ("--head", picture.head)):
        if value is not None:
            raise UsageError("word vectors have no layers and no heads", where=name, hint=f"Leave {name} out.")
    picture.reject_unknown_format()
    from pellucid.vectors import WordVectors

    seen = WordVectors.load(folder).look(text)
    if check:
        checks = seen.check()
        if as_json:
            console.data_json([one._asdict() for one in checks])
        else:
            draw_checks(checks)
        return
    if picture.output is not None:
        seen.save(picture.output, picture.view, dark=picture.dark)
        console.log(f"{picture.output} written")
        return
    shown = seen.view(picture.view)
    if as_json:
        console.data_json({"text": seen.text, "tokens": [one.as_dict() for one in seen.tokens], **shown.as_dict()})
        return
    show_view(shown)

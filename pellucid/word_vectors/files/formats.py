"""The names of the file formats, kept apart from the code so that they load without NumPy."""

from typing import Literal, get_args

from pellucid.errors import UserError

__all__ = ["FORMATS", "Format", "check_format"]

Format = Literal["native", "word2vec-text", "word2vec-binary", "glove", "fasttext"]
FORMATS: tuple[Format, ...] = get_args(Format)


def check_format(format: str | None) -> None:
    """Reject an unknown format name; None stands for detection.

    Raises:
        UserError: if it is unknown.
    """
    if format is not None and format not in FORMATS:
        raise UserError(f"unknown format {format!r}", where="format", hint=f"Use one of {', '.join(FORMATS)}.")

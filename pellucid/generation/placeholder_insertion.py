"""Where placeholders belong in a translation that was made without them: beside what their neighbours became."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from pellucid.generation.placeholders import ProtectedText, insert_placeholders
from pellucid.tokenizers.pieces import Piece

__all__ = ["insert_by_alignment"]


def insert_by_alignment(
    protected: ProtectedText,
    source_pieces: Sequence[Piece],
    target_pieces: Sequence[Piece],
    weights: Float[Tensor, "target source"],
    translation: str,
) -> str:
    """Put the placeholders of the source into the translation of its bare text.

    A pair of tags goes around what came from the text between them; any other placeholder before the token that looked
    most at the source token behind it, or to the end if it stood there.

    Args:
        protected: the source.
        source_pieces: of its bare text, without the spaces around it.
        target_pieces: of the translation.
        weights: how much each target token looked at each source token (further columns are not heeded).
        translation: of the bare text.
    """
    offsets = _offsets(protected)
    partners = _partners(protected)
    if not source_pieces or not target_pieces:
        return insert_placeholders(protected, translation, [len(translation) if offset else 0 for offset in offsets])
    weights = weights[:, : len(source_pieces)]
    looked_at = weights.argmax(1).tolist()
    places: list[int] = []
    for i, offset in enumerate(offsets):
        partner = partners[i]
        if partner is not None:
            first, last = sorted((offset, offsets[partner]))
            inside = [
                piece
                for piece, source in zip(target_pieces, looked_at, strict=True)
                if first <= source_pieces[source].start and source_pieces[source].end <= last
            ]
            if inside:
                places.append(min(p.start for p in inside) if i < partner else max(p.end for p in inside))
                continue
        behind = next((n for n, piece in enumerate(source_pieces) if piece.end > offset), None)
        places.append(len(translation) if behind is None else target_pieces[int(weights[:, behind].argmax())].start)
    return insert_placeholders(protected, translation, [_skip_spaces(translation, place) for place in places])


def _skip_spaces(text: str, place: int) -> int:
    """A token begins with its space; what stands before the token's word stands after that."""
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _offsets(protected: ProtectedText) -> list[int]:
    """Return before which character of the bare text, spaces around it taken away, each placeholder stands."""
    indent = len(protected.bare) - len(protected.bare.lstrip())
    return [
        max(0, len(ProtectedText(protected.segments[:i], protected.values).bare) - indent)
        for i, segment in enumerate(protected.segments)
        if isinstance(segment, int)
    ]


def _partners(protected: ProtectedText) -> list[int | None]:
    """Return for each placeholder which other one, counted in order, closes it or is closed by it."""
    values = [protected.values[segment] for segment in protected.segments if isinstance(segment, int)]
    partners: list[int | None] = [None] * len(values)
    open_tags: list[tuple[str, int]] = []
    for i, value in enumerate(values):
        if not value.startswith("<") or value.endswith("/>"):
            continue
        name = value.strip("</>").split()[0]
        if not value.startswith("</"):
            open_tags.append((name, i))
        elif open_tags and open_tags[-1][0] == name:
            start = open_tags.pop()[1]
            partners[i], partners[start] = start, i
    return partners

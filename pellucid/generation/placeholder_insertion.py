"""Insert placeholders into a translation that was made without them, guided by its alignment."""

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
    """Insert the placeholders of the source into the translation of its bare text.

    A pair of tags encloses what was translated from the text between them. Any other placeholder precedes the token
    that attended most to the source token after it, or ends the translation if it ended the source.

    Args:
        source_pieces: of its bare text, without surrounding spaces.
        weights: attention of each target token to each source token; further columns are ignored.
    """
    offsets = _offsets(protected)
    partners = _partners(protected)
    if not source_pieces or not target_pieces:
        return insert_placeholders(protected, translation, [len(translation) if offset else 0 for offset in offsets])
    weights = weights[:, : len(source_pieces)]
    attended = weights.argmax(1).tolist()
    starts: list[int] = []
    for i, offset in enumerate(offsets):
        partner = partners[i]
        if partner is not None:
            first, last = sorted((offset, offsets[partner]))
            inside = [
                piece
                for piece, source in zip(target_pieces, attended, strict=True)
                if first <= source_pieces[source].start and source_pieces[source].end <= last
            ]
            if inside:
                starts.append(min(p.start for p in inside) if i < partner else max(p.end for p in inside))
                continue
        following = next((n for n, piece in enumerate(source_pieces) if piece.end > offset), None)
        starts.append(
            len(translation) if following is None else target_pieces[int(weights[:, following].argmax())].start
        )
    return insert_placeholders(protected, translation, [_skip_spaces(translation, start) for start in starts])


def _skip_spaces(text: str, start: int) -> int:
    """Skip the space that a token begins with: the placeholder goes between it and the word."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _offsets(protected: ProtectedText) -> list[int]:
    """Compute the offset of each placeholder in the bare text without surrounding spaces."""
    indent = len(protected.bare) - len(protected.bare.lstrip())
    return [
        max(0, len(ProtectedText(protected.segments[:i], protected.values).bare) - indent)
        for i, segment in enumerate(protected.segments)
        if isinstance(segment, int)
    ]


def _partners(protected: ProtectedText) -> list[int | None]:
    """Find for each tag the index of its counterpart; None for other placeholders."""
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

"""Split a text into parts short enough to translate, prepare them for the model, and join their translations."""

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.generation.placeholders import ProtectedText, placeholder_spans, protect
from pellucid.generation.sentence_splitting import join_parts, split_lines, split_long
from pellucid.tokenizers import Tokenizer

__all__ = ["Part", "SplitText", "TextSplitter"]


@dataclass(frozen=True)
class Part:
    """A stretch of text that is translated in one go.

    Attributes:
        source: without surrounding spaces.
        protected: the same with its placeholders numbered.
        numbered: whether the model sees the placeholders, each as an id; if not, it sees the text without them.
        ids: what the model reads, ending in the end token; empty if the part consists of placeholders only.
    """

    source: str
    protected: ProtectedText
    numbered: bool
    ids: tuple[int, ...]


@dataclass(frozen=True)
class SplitText:
    """A text split into parts.

    Attributes:
        lines: the lines of the text and the line ends between them in turn, each split into stretches.
        parts: the stretches that are not blank, prepared for the model.
    """

    lines: tuple[tuple[str, ...], ...]
    parts: tuple[Part, ...]

    def join(self, translations: Sequence[str]) -> str:
        """Put each part's translation in the place of the part."""
        waiting = iter(translations)
        return "".join(
            join_parts(stretches, [next(waiting) if stretch.strip() else "" for stretch in stretches])
            for stretches in self.lines
        )


@dataclass(frozen=True)
class TextSplitter:
    """Splits texts for one model.

    Args:
        longest: lines of more tokens are split at sentence ends, and further if need be.
        placeholder_ids: how many different placeholders the model can copy; 0 if it was not trained to.
    """

    tokenizer: Tokenizer
    longest: int
    protecting: bool
    placeholder_ids: int

    def split(self, text: str) -> SplitText:
        """Split a text into parts."""
        lines: list[tuple[str, ...]] = []
        for line in split_lines(text):
            spans = placeholder_spans(line) if self.protecting else []
            lines.append(tuple(split_long(line, self._too_long, spans)) if line.strip() else (line,))
        stretches = [stretch.strip() for line in lines for stretch in line if stretch.strip()]
        return SplitText(tuple(lines), tuple(self.part(stretch, numbered=True) for stretch in stretches))

    def part(self, source: str, numbered: bool) -> Part:
        """Encode a stretch of text.

        Args:
            source: without surrounding spaces.
            numbered: show the model its placeholders as ids, if it was trained to copy that many.
        """
        protected = protect(source) if self.protecting else ProtectedText([source], [])
        numbered = numbered and 0 < len(protected.values) <= self.placeholder_ids
        bare = protected.bare.strip()
        if not bare:
            return Part(source, protected, numbered, ())
        if numbered:
            ids = self.tokenizer.encode_segments(protected.segments)
        else:
            ids = self.tokenizer.encode(bare if protected.values else source)
        return Part(source, protected, numbered, (*ids, self.tokenizer.end_id))

    def _too_long(self, stretch: str) -> bool:
        # Even if every character took four byte tokens, a quarter as many characters are short enough.
        return 4 * len(stretch) > self.longest and len(self.tokenizer.encode(stretch)) > self.longest

"""A text before and after the model: cut into parts, placeholders numbered; parts put together again."""

from collections.abc import Sequence
from dataclasses import dataclass

from pellucid.generation.placeholders import ProtectedText, placeholder_spans, protect
from pellucid.generation.sentence_splitting import join_parts, split_lines, split_long
from pellucid.tokenizers import Tokenizer

__all__ = ["Part", "SplitText", "TextSplitter"]


@dataclass(frozen=True)
class Part:
    """A stretch of a text that is translated in one go.

    Attributes:
        source: without the spaces around it.
        protected: the same with its placeholders numbered.
        numbered: whether the model sees the placeholders, each as an id of its own; otherwise it sees none of them.
        ids: what the model reads, the end token last; none if there is nothing but placeholders.
    """

    source: str
    protected: ProtectedText
    numbered: bool
    ids: tuple[int, ...]


@dataclass(frozen=True)
class SplitText:
    """How a text is cut: lines and their ends in turn, each line into stretches; those that are not blank are parts."""

    lines: tuple[tuple[str, ...], ...]
    parts: tuple[Part, ...]

    def assemble(self, translations: Sequence[str]) -> str:
        """Return the text with each part's translation in its place."""
        waiting = iter(translations)
        return "".join(
            join_parts(stretches, [next(waiting) if stretch.strip() else "" for stretch in stretches])
            for stretches in self.lines
        )


@dataclass(frozen=True)
class TextSplitter:
    """Cuts texts for one model.

    Args:
        tokenizer: of the source language.
        longest: a line of more tokens is cut at its sentence ends, and further if need be.
        protecting: whether placeholders are kept byte for byte.
        placeholder_ids: how many different ones the model can be shown at once; 0 if it has not learnt to copy them.
    """

    tokenizer: Tokenizer
    longest: int
    protecting: bool
    placeholder_ids: int

    def plan(self, text: str) -> SplitText:
        """Cut a text into parts."""
        lines: list[tuple[str, ...]] = []
        for line in split_lines(text):
            kept = placeholder_spans(line) if self.protecting else []
            lines.append(tuple(split_long(line, self._too_long, kept)) if line.strip() else (line,))
        stretches = [stretch.strip() for line in lines for stretch in line if stretch.strip()]
        return SplitText(tuple(lines), tuple(self.part(stretch, numbered=True) for stretch in stretches))

    def part(self, source: str, numbered: bool) -> Part:
        """Return what the model reads of a stretch of text, with placeholders as ids if it can and `numbered`."""
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
        # Even if every character were four bytes of its own, a quarter as many characters are short enough.
        return 4 * len(stretch) > self.longest and len(self.tokenizer.encode(stretch)) > self.longest

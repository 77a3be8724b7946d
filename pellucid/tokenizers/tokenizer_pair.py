"""The tokenizers of a translator: one for each language, or one for both."""

from dataclasses import dataclass
from pathlib import Path

from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.tokenizers.tokenizer_file import load_tokenizer

__all__ = ["TokenizerPair", "read_tokenizers", "write_tokenizers"]


@dataclass(frozen=True)
class TokenizerPair:
    """The tokenizers of source and target, the same object if they are joint."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether both languages share one tokenizer."""
        return self.source is self.target


def write_tokenizers(folder: Path, tokenizers: TokenizerPair) -> None:
    """Write tokenizer.json, or source_tokenizer.json and target_tokenizer.json."""
    if tokenizers.joint:
        tokenizers.source.save(folder / "tokenizer.json")
    else:
        tokenizers.source.save(folder / "source_tokenizer.json")
        tokenizers.target.save(folder / "target_tokenizer.json")


def read_tokenizers(folder: Path) -> TokenizerPair:
    """Read what `write_tokenizers` wrote.

    Raises:
        UserError: if a file is missing or damaged.
    """
    separate = [folder / f"{side}_tokenizer.json" for side in ("source", "target")]
    if any(path.exists() for path in separate):
        return TokenizerPair(*map(load_tokenizer, separate))
    joint = load_tokenizer(folder / "tokenizer.json")
    return TokenizerPair(joint, joint)

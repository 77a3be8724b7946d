"""`pellucid translate`: a file, a pipe or a text, translated line by line."""

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, ModelFlags
from pellucid.cli.text_lines import is_interactive, text_lines
from pellucid.errors import UsageError
from pellucid.plurals import pluralize
from pellucid.storage.files import atomic_file

if TYPE_CHECKING:
    from pellucid.generation.translation import Translation
    from pellucid.translator import Translator

__all__ = ["SearchOptions", "translate"]

_CHUNK = 2_000  # lines in memory at once, and sorted by length among each other
_TOLD = 20  # warnings shown one by one

_Switch = Annotated[bool, Parameter(negative="")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search; the model's own settings (generation_config.json) hold for what is not given."""

    beam: int | None = None
    """Hypotheses kept side by side; 1 is greedy."""

    n_best: int | None = None
    """Translations given for each line."""

    length_penalty: float | None = None
    """α in score = log-probability / length^α."""

    min_length: int | None = None
    """Fewest tokens of a translation."""

    no_repeat_ngram: int | None = None
    """No sequence of so many tokens may occur twice."""

    protect: Annotated[bool, Parameter(negative="--no-protect")] = True
    """Keep {{name}}, {0}, %s, ###T01###, tags, URLs and e-mail addresses byte for byte."""

    def settings(self) -> dict[str, Any]:
        """Return what was given as settings of the search."""
        given: dict[str, Any] = {
            "beam": self.beam,
            "n_best": self.n_best,
            "length_penalty": self.length_penalty,
            "min_length": self.min_length,
            "no_repeat_ngram": self.no_repeat_ngram,
            "protect_placeholders": None if self.protect else False,
        }
        return {name: value for name, value in given.items() if value is not None}


DEFAULT_SEARCH = SearchOptions()


@dataclass(frozen=True)
class _Form:
    """How a translation is written: the text alone, with further columns, or as JSON."""

    n_best: int
    confidence: bool
    alignment: bool
    as_json: bool

    def lines(self, found: "Translation", number: int) -> list[str]:
        if self.as_json:
            return [json.dumps({"line": number, **found.as_dict()}, ensure_ascii=False, allow_nan=False)]
        if self.n_best > 1:
            return [
                "\t".join([str(number), f"{one.score:.4f}", *self._sure(one.confidence), _one_line(one.text)])
                for one in found.n_best
            ]
        columns = [*self._sure(found.confidence), _one_line(found.text)]
        if self.alignment:
            links = " ".join(f"{link.source}-{link.target}" for link in found.alignment or ())
            columns += [" ".join(found.source_tokens), " ".join(found.tokens), links]
        return ["\t".join(columns)]

    def _sure(self, confidence: float) -> list[str]:
        return [f"{confidence:.3f}"] if self.confidence else []


def translate(
    folder: Path,
    /,
    *files: Annotated[str, Parameter(name="file", allow_leading_hyphen=True)],
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    text: str | None = None,
    prefix: str = "",
    alignment: _Switch = False,
    confidence: _Switch = False,
    backend: Literal["native"] = "native",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    search: SearchOptions = DEFAULT_SEARCH,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Translate a text with a trained model: for each line of the input a line of output, blank lines too.

    Lines of any length are translated whole, cut at sentence ends where they are longer than the model can do at once.
    With --n-best there are as many lines for each: number of the line, score, translation. Warnings about single
    lines (repetition, number, under_translation, length, truncated, placeholder) go to stderr.

    Args:
        folder: Folder of the model.
        files: A text file (.gz, .xz and .zst are read as they are); - or nothing is standard input.
        output: Where the translation is written, whole or not at all; standard output unless given.
        text: Translate this text instead of a file.
        prefix: Begin every translation with this text.
        alignment: Add columns: source tokens, target tokens, and links between them as in 0-0 1-2.
        confidence: Put before each translation how sure the model is, 0 to 1 (geometric mean of token probabilities).
        backend: What translates; there is the native one.
        as_json: Write one JSON object a line: line, text, score, log_prob, confidence, warnings; n_best, alignment,
            source_tokens and tokens where asked for.
    """
    file = _input(files, text)
    from pellucid.translator import Translator

    translator = Translator.load(folder, device=flags.device, precision=flags.precision)
    settings = search.settings()
    form = _Form(translator.settings(**settings).n_best, confidence, alignment, as_json)
    if text is not None:
        _translate_text(translator, text, prefix, form, output, settings)
        return
    notices = _Notices()
    interactive = is_interactive(file)
    if interactive:
        console.log("Type a line to translate it; Ctrl-D ends.")
    with ExitStack() as stack:
        out = None if output is None else stack.enter_context(atomic_file(output))
        bar = stack.enter_context(console.progress("Translating", unit="lines"))
        lines = text_lines(file)
        number = 0
        while chunk := list(islice(lines, 1 if interactive else _CHUNK)):
            done = translator.translate(chunk, prefix=prefix, alignment=alignment, **settings)
            for found in done:
                number += 1
                notices.tell(found, number)
                for line in form.lines(found, number):
                    _write(line, out)
            bar.advance(len(chunk))
    notices.sum_up()


def _input(files: tuple[str, ...], text: str | None) -> str | None:
    """Return the file to translate. All arguments come here, also such as `-`, which otherwise counts as an option."""
    for name in files:
        if name.startswith("-") and name != "-":
            hint = f"`pellucid translate --help` lists the flags; write ./{name} for a file of that name."
            raise UsageError(f"unknown option {name}", where="pellucid translate", hint=hint)
    if len(files) > 1:
        raise UsageError(
            f"expected one file, got {len(files)}: {', '.join(files)}",
            where="pellucid translate",
            hint="Translate one file at a time, or join them: `cat FILES | pellucid translate FOLDER`.",
        )
    if files and text is not None:
        raise UsageError("--text and a file exclude each other", where=f"{files[0]} --text", hint="Give one of them.")
    return files[0] if files else None


def _translate_text(
    translator: "Translator",
    text: str,
    prefix: str,
    form: _Form,
    output: Path | None,
    settings: dict[str, Any],
) -> None:
    found = translator.translate(text, prefix=prefix, alignment=form.alignment, **settings)
    for notice in found.warnings:
        console.warn(notice.message)
    plain = not (form.as_json or form.confidence or form.alignment or form.n_best > 1)
    lines = [found.text] if plain else form.lines(found, 1)
    with ExitStack() as stack:
        out = None if output is None else stack.enter_context(atomic_file(output))
        for line in lines:
            _write(line, out)


class _Notices:
    """Tells warnings with the line they are about, the first ones singly, the others by their number."""

    def __init__(self) -> None:
        self.lines = 0
        self.told = 0

    def tell(self, found: "Translation", number: int) -> None:
        self.lines += bool(found.warnings)
        for notice in found.warnings:
            if self.told < _TOLD:
                console.warn(f"line {number:,}: {notice.message}")
            self.told += 1

    def sum_up(self) -> None:
        if self.told > _TOLD:
            console.warn(f"{self.told:,} warnings about {pluralize(self.lines, 'line')}; --json has all of them")


def _one_line(text: str) -> str:
    """Return a text without line ends and tabs: what the model writes must not shift the lines behind it."""
    return re.sub(r"[\r\n\t]", " ", text)


def _write(line: str, out: BinaryIO | None) -> None:
    if out is None:
        console.data(line)
    else:
        out.write(line.encode("utf-8") + b"\n")

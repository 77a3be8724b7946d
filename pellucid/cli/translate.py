"""`pellucid translate`: a file, a pipe or a text, translated line by line."""

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from pydantic import BaseModel

from pellucid.cli import console
from pellucid.cli.config_flags import flags_of, given_fields
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags, Switch, TextArgument
from pellucid.cli.inputs import is_interactive, text_lines
from pellucid.errors import UsageError
from pellucid.generation.generation_config import GenerationConfig
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.generation.translation import Translation
    from pellucid.translator import Translator

__all__ = ["SearchFlags", "translate"]

_CHUNK = 2_000  # lines in memory at once, batched by length
_MAX_SHOWN = 20  # warnings printed one by one


if TYPE_CHECKING:
    SearchFlags = BaseModel | None
else:
    SearchFlags = flags_of(
        GenerationConfig, "SearchFlags", protect_placeholders=Parameter(name="--protect", negative="--no-protect")
    )


@dataclass(frozen=True)
class _Form:
    """The output format of a translation: the text alone, with further columns, or as JSON."""

    n_best: int
    confidence: bool
    alignment: bool
    as_json: bool

    def lines(self, found: "Translation", number: int) -> list[str]:
        if self.as_json:
            return [console.format_json({"line": number, **found.as_dict()})]
        if self.n_best > 1:
            return [
                "\t".join([str(number), f"{one.score:.4f}", *self._confidence(one.confidence), _one_line(one.text)])
                for one in found.n_best
            ]
        columns = [*self._confidence(found.confidence), _one_line(found.text)]
        if self.alignment:
            links = " ".join(f"{link.source}-{link.target}" for link in found.alignment or ())
            columns += [" ".join(found.source_tokens), " ".join(found.tokens), links]
        return ["\t".join(columns)]

    def _confidence(self, confidence: float) -> list[str]:
        return [f"{confidence:.3f}"] if self.confidence else []


def translate(
    folder: Path,
    /,
    *files: Annotated[TextArgument[str], Parameter(name="file")],
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    text: TextArgument[str | None] = None,
    prefix: TextArgument[str] = "",
    alignment: Switch = False,
    confidence: Switch = False,
    as_json: JsonSwitch = False,
    search: SearchFlags = None,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Translate text with a trained model.

    Each input line produces one output line; blank lines stay blank. Lines of any length are translated
    completely: long ones are split at sentence ends. The model's own settings (generation_config.json) apply unless a
    flag overrides them. With --n-best N, each input line produces N output lines: line number, score,
    translation. Warnings about single lines (repetition, number, under_translation, length, truncated, placeholder) go
    to stderr.

    Args:
        folder: Model folder.
        files: A text file (.gz, .xz and .zst are decompressed); standard input if omitted or -.
        output: Write the translation to this file, atomically, instead of standard output.
        text: Translate this text instead of a file.
        prefix: Begin every translation with this text.
        alignment: Add columns: source tokens, target tokens, and the links between them as in 0-0 1-2.
        confidence: Add a column before each translation: the model's confidence from 0 to 1, the geometric mean of the
            token probabilities.
        as_json: Write one JSON object per line: line, text, score, log_prob, confidence, warnings; n_best, alignment,
            source_tokens and tokens if requested.
        search: How to search.
    """
    file = _input(files, text)
    from pellucid.translator import Translator

    translator = Translator.load(folder, device=flags.device, precision=flags.precision)
    settings = given_fields(search)
    form = _Form(translator.settings(**settings).n_best, confidence, alignment, as_json)
    if text is not None:
        _translate_text(translator, text, prefix, form, output, settings)
        return
    warnings = _Warnings()
    interactive = is_interactive(file)
    if interactive:
        console.log("Type a line to translate it; Ctrl-D ends.")
    with console.output(output) as write, console.progress("Translating", unit="lines") as bar:
        lines = text_lines(file)
        number = 0
        while chunk := list(islice(lines, 1 if interactive else _CHUNK)):
            for found in translator.translate(chunk, prefix=prefix, alignment=alignment, **settings):
                number += 1
                warnings.show(found, number)
                for line in form.lines(found, number):
                    write(line)
            bar.advance(len(chunk))
    warnings.sum_up()


def _input(files: tuple[str, ...], text: str | None) -> str | None:
    """Choose the file to translate; `files` has all further arguments, since `-` alone would be parsed as an option."""
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
        raise UsageError(
            "--text cannot be combined with a file", where=f"{files[0]} --text", hint="Pass only one of them."
        )
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
    for warning in found.warnings:
        console.warn(warning.message)
    plain = not (form.as_json or form.confidence or form.alignment or form.n_best > 1)
    with console.output(output) as write:
        for line in [found.text] if plain else form.lines(found, 1):
            write(line)


class _Warnings:
    """Prints the first warnings one by one, with their line numbers, and the total number at the end."""

    def __init__(self) -> None:
        self.lines = 0
        self.count = 0

    def show(self, found: "Translation", number: int) -> None:
        self.lines += bool(found.warnings)
        for warning in found.warnings:
            if self.count < _MAX_SHOWN:
                console.warn(f"line {number:,}: {warning.message}")
            self.count += 1

    def sum_up(self) -> None:
        if self.count > _MAX_SHOWN:
            console.warn(f"{self.count:,} warnings for {pluralize(self.lines, 'line')} in total; --json lists all")


def _one_line(text: str) -> str:
    """Replace line ends and tabs: what the model writes must not shift the lines and columns after it."""
    return re.sub(r"[\r\n\t]", " ", text)

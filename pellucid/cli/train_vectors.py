"""`pellucid train vectors`: a text in, a vector for each word out."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.stopping import STOPPED, Stop
from pellucid.cli.vector_files import Form, check_new, opened, size_of
from pellucid.cli.vector_settings import DEFAULT_SETTINGS, VectorSettings
from pellucid.errors import UsageError, UserError
from pellucid.storage.files import write_error

if TYPE_CHECKING:
    from pellucid.word2vec import Format, VectorsConfig, WordVectors
    from pellucid.word2vec.training import Training, VectorsStep

__all__ = ["vectors"]

_Switch = Annotated[bool, Parameter(negative="")]


def vectors(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    to: Form | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    overwrite: _Switch = False,
    settings: VectorSettings = DEFAULT_SETTINGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train word vectors from a text, a sentence a line; of the same text and seed come the same vectors, to the bit.

    Sequences need not be words: baskets of a shop, a line each, give vectors of its items. Ctrl-C stops and keeps the
    vectors as they are.

    Args:
        text: Files; .gz, .xz and .zst are read as they are.
        output: Folder for the native form, a file for the others.
        to: The form to write: native is a folder that opens at once and holds counts and output vectors, too. By the
            output's ending unless given: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else
            native.
        start_from: Word vectors to go on with, a folder or file; new words are added behind theirs.
        overwrite: Replace word vectors that stand in the output folder, or the file.
    """
    if not text:
        raise UsageError("no text was given", where="pellucid train vectors", hint="Name a file, a sentence a line.")
    form = check_new(output, to, overwrite)
    if any(os.path.realpath(output) == os.path.realpath(file) for file in text):
        raise UserError(f"{output} is the text to learn from", where=str(output), hint="Name another file with `-o`.")
    from pellucid.word2vec.config import vectors_config

    start = None if start_from is None else opened(start_from)
    given = settings.given()
    if start is not None:
        given.setdefault("d", start.d)
    config = vectors_config(given)
    with _work_folder(output) as folder:
        made, records, stopped = _made(list(text), config, folder, start, form, flags.threads)
    _save(made, output, form)
    if form == "native":
        _write_metrics(output, records)
    console.say(f"{output}: {len(made):,} words, {made.d} numbers each")
    console.say(f"Try it: pellucid vectors similar {output} {made.words[min(100, len(made) - 1)]}")
    return STOPPED if stopped else 0


def _made(
    text: list[Path],
    config: "VectorsConfig",
    folder: Path,
    start: "WordVectors | None",
    form: "Format",
    threads: int | None,
) -> tuple["WordVectors", list["VectorsStep"], bool]:
    """Read the text and train on it; return the vectors, the records, and whether Ctrl-C has stopped it.

    Raises:
        UserError: before the training, if the form to write cannot hold a word.
    """
    from pellucid.word2vec import Vocabulary
    from pellucid.word2vec.files import check_words
    from pellucid.word2vec.training import Training, encoded_for

    with console.progress("Reading", size_of(text), "bytes") as bar:
        encoded = encoded_for(text, config, folder, start, bar.advance)
    console.say(
        f"{encoded.words_read:,} words, {encoded.different:,} different, {len(encoded.words):,} of them "
        f"at least {config.min_count} times; {len(encoded.ids):,} sentences"
    )
    words = encoded.words if start is None else dict.fromkeys([*start.words, *encoded.words])
    check_words(Vocabulary.of(words), form)
    training = Training(encoded, config, threads=threads, start=start)
    records, stopped = _trained(training)
    return training.vectors(), records, stopped


def _save(made: "WordVectors", output: Path, form: "Format") -> None:
    """Write the vectors, or, where that is refused, keep them in another place and say where."""
    try:
        with console.progress("Writing"):
            made.save(output, form)
    except UserError:
        kept = Path(tempfile.mkdtemp(prefix="pellucid-")) / "vectors"
        try:
            made.save(kept)
        except UserError:  # there is no room either: the first error tells
            kept.parent.rmdir()
        else:
            console.warn(f"the vectors are kept in {kept}; `pellucid vectors convert {kept} NEW` puts them elsewhere")
        raise


def _trained(training: "Training") -> tuple[list["VectorsStep"], bool]:
    """Take the training to its end, or to Ctrl-C; return its records and whether it was stopped."""
    records = []
    stop = Stop("Stopping here, with the vectors as they are")
    with stop.heeded(), console.progress("Training", 100, "%") as bar:
        for step in training:
            stop.waits = True
            records.append(step)
            left = step.seconds * (1 / step.progress - 1)
            bar.update(
                round(100 * step.progress, 1),
                f"loss {step.loss:.3f}, {step.words_per_second:,.0f} words/s, {left:.0f} s left",
            )
            if step.epoch_loss is not None:
                console.say(f"pass {step.epoch + 1} of {training.config.epochs}: loss {step.epoch_loss:.4f}")
            if stop.asked and step.progress < 1:
                console.say(f"Stopped after {step.progress:.0%}; the vectors are kept as they are.")
                return records, True
    words, seconds = records[-1].words, records[-1].seconds
    console.say(f"{words:,} words in {seconds:.1f} s: {words / seconds:,.0f} words/s")
    return records, False


def _write_metrics(folder: Path, records: list["VectorsStep"]) -> None:
    import json

    from pellucid.storage.files import write_text

    lines = []
    for record in records:
        fields = asdict(record)
        fields["tokens"], fields["tokens_per_second"] = fields.pop("words"), fields.pop("words_per_second")
        lines.append(json.dumps(fields, allow_nan=False))
    write_text(folder / "metrics.jsonl", "\n".join(lines) + "\n")


@contextmanager
def _work_folder(output: Path) -> Iterator[Path]:
    """Yield a folder for the encoded text, beside the output: there is room where vectors go."""
    beside = next(folder for folder in output.absolute().parents if folder.is_dir())
    try:
        temporary = tempfile.TemporaryDirectory(prefix=".pellucid-", dir=beside)
    except OSError as error:
        raise write_error(output, error) from error
    with temporary as folder:
        yield Path(folder)

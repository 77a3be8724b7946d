"""`pellucid train vectors`: a text in, a vector for each word out."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt
from pellucid.cli.vector_files import Form, check_output, open_vectors, total_size
from pellucid.cli.vector_settings import DEFAULT_SETTINGS, VectorSettings
from pellucid.cli.vectors_run import VectorsRun
from pellucid.errors import UsageError, UserError
from pellucid.storage.files import write_error

if TYPE_CHECKING:
    from pellucid.word_vectors import Format, VectorsConfig, WordVectors
    from pellucid.word_vectors.training import VectorsTraining

__all__ = ["vectors"]

_Switch = Annotated[bool, Parameter(negative="")]


def vectors(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    to: Form | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: _Switch = False,
    overwrite: _Switch = False,
    settings: VectorSettings = DEFAULT_SETTINGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train word vectors from a text, a sentence a line; of the same text and seed come the same vectors, to the bit.

    Sequences need not be words: baskets of a shop, a line each, give vectors of its items. Ctrl-C stops and keeps the
    vectors as they are. In a folder there is a checkpoint every five minutes and after Ctrl-C, from which `--resume`
    goes on: the vectors are then those of a training that nobody stopped, to the bit.

    Args:
        text: Files; .gz, .xz and .zst are read as they are.
        output: Folder for the native form, a file for the others.
        to: The form to write: native is a folder that opens at once and holds counts and output vectors, too. By the
            output's ending unless given: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else
            native.
        start_from: Word vectors to go on with, a folder or file; new words are added behind theirs.
        resume: Go on with the training in the folder; text and settings are given again.
        overwrite: Replace word vectors that stand in the output folder, or the file.
    """
    if not text:
        raise UsageError("no text was given", where="pellucid train vectors", hint="Name a file, a sentence a line.")
    form = check_output(output, to, overwrite, resume)
    if any(os.path.realpath(output) == os.path.realpath(file) for file in text):
        raise UserError(f"{output} is the text to learn from", where=str(output), hint="Name another file with `-o`.")
    from pellucid.word_vectors.config import vectors_config
    from pellucid.word_vectors.train_vectors import inherit_settings

    start = None if start_from is None else open_vectors(start_from)
    config = vectors_config(settings.given() if start is None else {**inherit_settings(start), **settings.given()})
    stop = Interrupt("Stopping here, with the vectors as they are")
    with _work_folder(output) as folder, stop.handled():
        training = _begun(list(text), config, folder, start, form, flags.threads)
        run = VectorsRun(training, output if form == "native" else None, text)
        if resume:
            run.take_up()
        run.take_on(stop)
        made = training.vectors()
        _save(made, output, form, run, may_replace=overwrite or resume)
    if run.can_go_on:
        console.log("The same command with --resume (and without --overwrite) goes on.")
    console.log(f"{output}: {len(made):,} words, {made.dim} numbers each")
    console.log(f"Try it: pellucid vectors similar {output} {made.words[min(100, len(made) - 1)]}")
    return EXIT_INTERRUPTED if run.stopped else 0


def _begun(
    text: list[Path],
    config: "VectorsConfig",
    folder: Path,
    start: "WordVectors | None",
    form: "Format",
    threads: int | None,
) -> "VectorsTraining":
    """Read the text and return a training on it.

    Raises:
        UserError: before the training, if the form to write cannot hold a word.
    """
    from pellucid.word_vectors import Vocabulary
    from pellucid.word_vectors.files import check_words
    from pellucid.word_vectors.sanity_checks import check_text
    from pellucid.word_vectors.train_vectors import encode_for_training
    from pellucid.word_vectors.training import VectorsTraining

    with console.progress("Reading", total_size(text), "bytes") as bar:
        encoded = encode_for_training(text, config, folder, start, bar.advance)
    console.log(
        f"{encoded.words_read:,} words, {encoded.distinct:,} different, {len(encoded.words):,} of them "
        f"at least {config.min_count} times; {len(encoded.ids):,} sentences"
    )
    words = encoded.words if start is None else dict.fromkeys([*start.words, *encoded.words])
    check_words(Vocabulary.of(words), form)
    training = VectorsTraining(encoded, config, threads=threads, start=start)
    _say_what_is_shared(training)
    for doubt in check_text(encoded, config):
        console.warn(doubt)
    with console.progress("Fetching machine code (compiled at the first training on a machine, some twenty seconds)"):
        training.prepare()
    return training


def _save(made: "WordVectors", output: Path, form: "Format", run: VectorsRun, may_replace: bool) -> None:
    """Write the vectors, or, where that is refused, keep them in another place and say where."""
    from pellucid.storage.files import atomic_folder
    from pellucid.word_vectors.files.native_format import check_native_path, write_native

    try:
        if not may_replace and (output / "config.json" if form == "native" else output).is_file():
            raise UserError(f"word vectors of another run have come to stand in {output}", where=str(output))
        with console.progress("Writing"):
            if form != "native":
                made.save(output, form)
                return
            check_native_path(output)
            with atomic_folder(output, replace=True) as temporary:
                write_native(made, temporary)
                run.leave_records(temporary)
    except UserError:
        kept = Path(tempfile.mkdtemp(prefix="pellucid-")) / "vectors"
        try:
            made.save(kept)
        except UserError:  # there is no room either: the first error tells
            kept.parent.rmdir()
        else:
            console.warn(f"the vectors are kept in {kept}; `pellucid vectors convert {kept} NEW` puts them elsewhere")
        raise


def _say_what_is_shared(training: "VectorsTraining") -> None:
    """Say how much of the vectors to go on with the text has a use for."""
    start, words = training.start, len(training.text.words)
    if start is None:
        return
    lacking = " (output vectors there are none)" if start.output_vectors is None else ""
    console.log(
        f"{training.matched:,} of the text's {words:,} words go on from vectors there are{lacking}; the rest is new"
    )
    if training.matched < words / 10:
        console.warn(
            "hardly a word of the text is among the vectors to go on from: are they of this language, cut alike?"
        )
    then = start.metadata.get("training")
    before = then.get("model") if isinstance(then, dict) else None
    if before not in (None, training.config.model):
        console.warn(f"the vectors to go on from were trained by {before}, this training is {training.config.model}")


@contextmanager
def _work_folder(output: Path) -> Iterator[Path]:
    """Yield a folder for the encoded text, beside the output: there is room where vectors go.

    It is removed, too, when the program is asked to end.
    """
    beside = next(folder for folder in output.absolute().parents if folder.is_dir())
    try:
        temporary = tempfile.TemporaryDirectory(prefix=".pellucid-", dir=beside)
    except OSError as error:
        raise write_error(output, error) from error
    before = signal.signal(signal.SIGTERM, _end)
    try:
        with temporary as folder:
            yield Path(folder)
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)

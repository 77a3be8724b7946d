"""`pellucid train vectors`: train word vectors from a text."""

import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, ShownSwitch
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt, handle_signal
from pellucid.cli.vector_files import DEFAULT_VECTOR_FLAGS, VectorFlags, open_vectors, total_size
from pellucid.errors import UsageError
from pellucid.word_vectors.files.formats import Format

if TYPE_CHECKING:
    from pellucid.word_vectors.training_run import TrainingRun

__all__ = ["vectors"]


def vectors(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    to: Format | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: ShownSwitch = False,
    overwrite: ShownSwitch = False,
    settings: Annotated[VectorFlags, Parameter(name="*")] = DEFAULT_VECTOR_FLAGS,
    flags: Flags = DEFAULT_FLAGS,
) -> int:
    """Train word vectors on text with one sentence per line.

    The same text, settings and seed give bit-identical vectors. The tokens need not be words: shopping baskets, one per
    line, give vectors of items. Ctrl-C stops and saves the vectors as they are. When training into a folder, a
    checkpoint is written every five minutes and after Ctrl-C; --resume continues from it and gives the same vectors as
    an uninterrupted run.

    Args:
        text: Text files, optionally compressed as .gz, .xz or .zst.
        output: Folder for the native format, file for the others.
        to: Format to write. native is a folder that opens instantly and also holds counts and output vectors. By
            default from the suffix: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else native.
        start_from: Folder or file of word vectors to continue training from; new words are added.
        resume: Continue the training in the output folder; pass the same text and settings.
        overwrite: Replace existing word vectors in the output folder, or the file.
    """
    if not text:
        raise UsageError(
            "no text given", where="pellucid train vectors", hint="Name a file with one sentence per line."
        )
    from pellucid.word_vectors.config import vectors_config
    from pellucid.word_vectors.train_vectors import inherit_settings
    from pellucid.word_vectors.training_run import TrainingRun

    start = None if start_from is None else open_vectors(start_from)
    config = vectors_config({**({} if start is None else inherit_settings(start)), **settings.given()})
    run = TrainingRun(
        text,
        output,
        config,
        format=to,
        start=start,
        threads=flags.threads,
        resume=resume,
        overwrite=overwrite,
        log=console.log,
        warn=console.warn,
    )
    interrupt = Interrupt("Stopping here; the vectors are saved as they are")
    with handle_signal(signal.SIGTERM, _exit), interrupt.handled(), run:
        with console.progress("Reading", total_size(text), "bytes") as bar:
            run.encode(bar.advance)
        with console.progress("Compiling kernels (first run only)"):
            run.training.compile()
        _train(run, interrupt)
        with console.progress("Writing"):
            made = run.save()
    if run.resumable:
        console.log("Repeat the command with --resume (and without --overwrite) to continue.")
    console.log(f"{output}: {len(made):,} words, dimension {made.dim}")
    console.log(f"Try it: pellucid vectors similar {output} {made.words[min(100, len(made) - 1)]}")
    return EXIT_INTERRUPTED if run.stopped else 0


def _train(run: "TrainingRun", interrupt: Interrupt) -> None:
    """Run the training to its end or to Ctrl-C, with a progress bar."""
    with console.progress("Training", 100, "%") as bar:
        for step in run:
            interrupt.deferred = True
            left = step.seconds * (1 / step.progress - 1)
            bar.update(
                round(100 * step.progress, 1),
                f"loss {step.loss:.3f}, {step.words_per_second:,.0f} words/s, {left:.0f} s left",
            )
            if step.epoch_loss is not None:
                console.log(f"epoch {step.epoch + 1} of {run.config.epochs}: loss {step.epoch_loss:.4f}")
            if step.progress < 1 and interrupt.requested:
                console.log(f"Stopped at {step.progress:.0%}; the vectors are saved as they are.")
                return
    console.log(f"{step.words:,} words (all epochs) in {step.seconds:.1f} s: {step.words / step.seconds:,.0f} words/s")


def _exit(number: int, frame: FrameType | None) -> None:
    """Exit through Python, so that temporary folders are removed."""
    raise SystemExit(128 + number)

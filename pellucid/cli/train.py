"""`pellucid train translator`: two files in, a translator out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_TRAINING_FLAGS, Settings, TrainingFlags
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt
from pellucid.cli.pairs import PairFiles, no_pairs_error
from pellucid.errors import UsageError

if TYPE_CHECKING:
    from pellucid.training.state import Step, Validation

__all__ = ["explain_interrupt", "given_settings", "show_training", "translator"]

_NAME = 12  # columns for what a sample's text is


def translator(
    *sources: PairFiles,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    recipe: str | None = None,
    valid: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative="")] = None,
    minutes: float | None = None,
    steps: int | None = None,
    source_lang: str | None = None,
    target_lang: str | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    overwrite: Annotated[bool, Parameter(negative="")] = False,
    settings: Settings = None,
    flags: TrainingFlags = DEFAULT_TRAINING_FLAGS,
) -> int:
    """Train a translator from sentence pairs.

    Any setting of the recipe can be given as `--section.field value`, as in `--training.learning_rate 3e-4`;
    `pellucid train settings` lists them. Ctrl-C stops with a checkpoint; `--resume` goes on from it.

    Args:
        output: Folder of the model.
        recipe: fast (unless given), tiny, small, base or big, or a TOML file.
        valid: Files with validation pairs; without them some pairs are held out.
        minutes: Length of the run, all in all; the recipe's if neither this nor --steps is given.
        steps: Length of the run in updates; a run of given steps resumes bit for bit.
        source_lang: Code of the source language, such as zh; recorded, and needed where a file has several.
        target_lang: Code of the target language, such as en.
        start_from: A finished translator to train on with more or other text; its tokenizer is kept.
        resume: Go on with the run in the folder.
        overwrite: Replace the model in the folder.
    """
    if minutes is not None and steps is not None:
        raise UsageError("--minutes and --steps exclude each other", hint="Give the length of the run once.")
    if not sources and not resume:
        raise no_pairs_error("train translator")
    from pellucid.training.train_translator import train_translator

    run = train_translator(
        sources,
        output,
        recipe=recipe,
        minutes=minutes,
        steps=steps,
        settings=given_settings(settings, flags),
        valid=valid or (),
        source_lang=source_lang,
        target_lang=target_lang,
        start_from=start_from,
        resume=resume,
        overwrite=overwrite,
        device=flags.device,
        log=console.log,
    )
    code = show_training(run, lambda begun: explain_interrupt(output, resume, overwrite, begun))
    if code == 0:
        console.log(f'Try it: pellucid translate {output} --text "…"')
    return code


def given_settings(settings: Settings, flags: TrainingFlags) -> dict[str, object]:
    """Return the settings that a command line gives, by `section.field`, those with a flag of their own included."""
    given: dict[str, object] = dict(settings or {})
    if flags.seed is not None:
        given["training.seed"] = flags.seed
    if flags.precision != "auto":
        given["training.precision"] = flags.precision
    return given


def show_training(run: Iterator["Step"], explain_interrupt: Callable[[bool], str]) -> int:
    """Take a run to its end, or to Ctrl-C, and show how it goes.

    Before the first step Ctrl-C breaks off at once; later it waits for the end of the step, and writes a checkpoint; a
    second one does not.

    Args:
        what_is_kept: says what is kept of a run that Ctrl-C stopped, and how it goes on; told whether a step was made.

    Returns:
        The exit code, 0 or 130.
    """
    stop = Interrupt("Stopping after this step, with a checkpoint")
    with stop.handled(), console.progress("Training", 100, "%") as bar:
        try:
            for step in run:
                stop.deferred = True
                bar.update(round(100 * step.progress, 1), _note(step))
                if step.validation is not None:
                    _say_validation(step, step.validation)
                if stop.requested:
                    run.close()  # type: ignore[attr-defined]  # a generator: closing it writes a checkpoint
                    console.log(f"Stopped after step {step.step:,}: {explain_interrupt(True)}.")
                    return EXIT_INTERRUPTED
        except KeyboardInterrupt:
            console.log(
                f"Stopped{'' if stop.deferred else ' before the first step'}: {explain_interrupt(stop.deferred)}."
            )
            return EXIT_INTERRUPTED
    return 0


def explain_interrupt(output: Path, resume: bool, overwrite: bool, begun: bool) -> str:
    """Say what is kept of a run that Ctrl-C stopped, and how it goes on; `begun` once a step was made."""
    from pellucid.storage.checkpoints import checkpoint_step, latest_checkpoint

    same = f"the same command {'without --overwrite and ' if overwrite else ''}with --resume"
    newest = latest_checkpoint(output)
    if newest is not None and (resume or begun):
        return f"the checkpoint of step {checkpoint_step(newest):,} is kept, and {same} goes on from there"
    if overwrite:
        stays = f" and {output} stays as it was" if newest is not None else ""
        return f"nothing is kept{stays}; the same command starts over"
    return f"nothing is kept; {same} starts over"


def _note(step: "Step") -> str:
    left = step.seconds * (1 / step.progress - 1) if step.progress else 0
    return (
        f"step {step.step:,}, loss {step.loss:.2f}, {step.tokens_per_second:,.0f} tokens/s, "
        f"{step.padding:.0%} padding, {_duration(left)} left"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _say_validation(step: "Step", found: "Validation") -> None:
    scores = "" if found.bleu is None else f", BLEU {found.bleu:.1f}, chrF {found.chrf:.1f}"
    scores += "" if found.bits_per_byte is None else f", {found.bits_per_byte:.3f} bits per byte"
    best = ", best so far" if found.is_best else ""
    console.log(f"{step.progress:4.0%}  step {step.step:,}: validation loss {found.loss:.3f}{scores}{best}")
    for name, text in (found.sample or {}).items():
        for line in text.split("\n"):
            console.log(f"      {name:>{_NAME}}: {line}" if name else f"      {'':>{_NAME}}  {line}")
            name = ""

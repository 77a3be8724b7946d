"""`pellucid train translator` and `pellucid train lm`: text in, a model folder out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pellucid.cli import console
from pellucid.cli.inputs import PairFiles, no_pairs_error
from pellucid.cli.interrupt import EXIT_INTERRUPTED, Interrupt
from pellucid.cli.training_flags import (
    DEFAULT_TRAINING_FLAGS,
    RunFlags,
    Settings,
    TrainingFlags,
    recipe_help,
)
from pellucid.errors import UsageError
from pellucid.training.recipe import LanguageModelRecipe, TranslatorRecipe

if TYPE_CHECKING:
    from pellucid.training.state import Step, Validation

__all__ = ["lm", "show_training", "translator"]

_SAMPLE_COLUMNS = 12  # for the name of a sample's text


def translator(
    *sources: PairFiles,
    recipe: Annotated[str | None, recipe_help(TranslatorRecipe)] = None,
    run: RunFlags,
    source_lang: str | None = None,
    target_lang: str | None = None,
    flags: TrainingFlags = DEFAULT_TRAINING_FLAGS,
    **settings: Settings,
) -> int:
    """Train a translator on sentence pairs.

    Any setting of the recipe can be overridden with `--section.field value`, such as `--training.learning_rate 3e-4`;
    `pellucid train settings` lists them. Ctrl-C writes a checkpoint and stops; `--resume` continues from it.

    Args:
        source_lang: Source language code, such as zh; recorded in the model, and required for files with several
            languages.
        target_lang: Target language code, such as en.
    """
    run.check_length()
    _silence_followers()
    if not sources and not run.resume:
        raise no_pairs_error("train translator")
    from pellucid.training.train_translator import train_translator

    steps = train_translator(
        sources,
        run.output,
        recipe=recipe,
        source_lang=source_lang,
        target_lang=target_lang,
        **run.options(flags, settings),
    )
    code = show_training(steps, lambda began: _explain_interrupt(run, began))
    if code == 0:
        console.log(f'Try it: pellucid translate {run.output} --text "…"')
    return code


def lm(
    *text: Path,
    recipe: Annotated[str | None, recipe_help(LanguageModelRecipe)] = None,
    run: RunFlags,
    flags: TrainingFlags = DEFAULT_TRAINING_FLAGS,
    **settings: Settings,
) -> int:
    """Train a language model on text, or on prompts and their completions.

    Any setting of the recipe can be overridden with `--section.field value`, such as `--data.documents blank-line`;
    `pellucid train settings --lm` lists them. Ctrl-C writes a checkpoint and stops; `--resume` continues from it.

    Args:
        text: Plain text files, or .jsonl files with text, or with prompt and completion, of which only the completion
            is learnt; optionally compressed (.gz, .xz, .zst).
    """
    run.check_length()
    _silence_followers()
    if not text and not run.resume:
        raise UsageError("no text given", where="pellucid train lm", hint="Name a text file, or a .jsonl file.")
    from pellucid.training.train_lm import train_lm

    steps = train_lm(text, run.output, recipe=recipe, **run.options(flags, settings))
    code = show_training(steps, lambda began: _explain_interrupt(run, began))
    if code == 0:
        console.log(f'Try it: pellucid generate {run.output} "…"')
    return code


def _silence_followers() -> None:
    """Leave speaking to rank 0 where `torchrun` starts this command several times."""
    from pellucid.distributed import launched_rank

    if launched_rank():
        console.set_quiet(True)


def show_training(steps: Iterator["Step"], explain_interrupt: Callable[[bool], str], goal: float | None = None) -> int:
    """Run a training to its end, or until Ctrl-C, and show its progress.

    Before the first step Ctrl-C stops at once; after it, at the end of the step, with a checkpoint. A second Ctrl-C
    stops at once.

    Args:
        steps: generator of the run.
        explain_interrupt: tells what an interrupted run has left and how to continue; called with whether a step was
            made.
        goal: share of exact validation translations at which the run ends; None for a run that ends by its length.

    Returns:
        The exit code, 0 or 130.
    """
    interrupt, exact = Interrupt("Stopping after this step, with a checkpoint"), 0.0
    with interrupt.handled(), console.progress("Training", 100, "%") as bar:
        try:
            for step in steps:
                interrupt.deferred = True
                if step.validation is not None:
                    exact = step.validation.exact or 0.0
                done = step.progress if goal is None else min(exact / goal, 1.0)
                bar.update(round(100 * done, 1), _describe_step(step, None if goal is None else exact))
                if step.validation is not None:
                    _show_validation(step, step.validation)
                if interrupt.requested:
                    steps.close()  # type: ignore[attr-defined]  # a generator: closing it writes a checkpoint
                    console.log(f"Stopped after step {step.step:,}. {explain_interrupt(True)}")
                    return EXIT_INTERRUPTED
        except KeyboardInterrupt:
            began = interrupt.deferred
            console.log(f"Stopped{'' if began else ' before the first step'}. {explain_interrupt(began)}")
            return EXIT_INTERRUPTED
    return 0


def _explain_interrupt(run: RunFlags, began: bool) -> str:
    """Tell what a run stopped by Ctrl-C has left, and how to continue; `began` after its first step."""
    from pellucid.storage.checkpoints import checkpoint_step, latest_checkpoint

    newest = latest_checkpoint(run.output)
    if newest is not None and (run.resume or began):
        step = f"step {checkpoint_step(newest):,}"
        if run.overwrite:
            return f"The checkpoint of {step} is kept; to continue, pass --resume instead of --overwrite."
        return f"The checkpoint of {step} is kept; to continue, run the same command with --resume."
    if run.overwrite and newest is not None:
        return f"Nothing is kept, and {run.output} is unchanged; to start over, run the same command again."
    if run.overwrite:
        return "Nothing is kept; to start over, run the same command again."
    return "Nothing is kept; to start over, run the same command with --resume."


def _describe_step(step: "Step", exact: float | None) -> str:
    left = step.seconds * (1 / step.progress - 1) if step.progress else 0
    duration = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    return (
        f"step {step.step:,}, loss {step.loss:.2f}, {step.tokens_per_second:,.0f} tokens/s, "
        f"{step.padding:.0%} padding, " + (f"{duration} left" if exact is None else f"{exact:.0%} exact")
    )


def _show_validation(step: "Step", found: "Validation") -> None:
    scores = "" if found.bleu is None else f", BLEU {found.bleu:.1f}, chrF {found.chrf:.1f}"
    scores += "" if found.exact is None else f", {found.exact:.0%} exact"
    scores += "" if found.bits_per_byte is None else f", {found.bits_per_byte:.3f} bits per byte"
    best = ", best so far" if found.is_best else ""
    console.log(f"{step.progress:4.0%}  step {step.step:,}: validation loss {found.loss:.3f}{scores}{best}")
    for name, text in (found.sample or {}).items():
        for number, line in enumerate(text.split("\n")):
            head = f"{name:>{_SAMPLE_COLUMNS}}:" if number == 0 else " " * (_SAMPLE_COLUMNS + 1)
            console.log(f"      {head} {line}")

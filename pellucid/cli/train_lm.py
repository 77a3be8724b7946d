"""`pellucid train lm`: a text in, a language model out."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_TRAINING_FLAGS, Settings, TrainingFlags
from pellucid.cli.train import explain_interrupt, given_settings, show_training
from pellucid.errors import UsageError

__all__ = ["lm"]


def lm(
    *text: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    recipe: str | None = None,
    valid: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative="")] = None,
    minutes: float | None = None,
    steps: int | None = None,
    start_from: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    overwrite: Annotated[bool, Parameter(negative="")] = False,
    settings: Settings = None,
    flags: TrainingFlags = DEFAULT_TRAINING_FLAGS,
) -> int:
    """Train a language model from a text, or from prompts and their completions.

    Any setting of the recipe can be given as `--section.field value`, as in `--data.documents blank-line`;
    `pellucid train settings --lm` lists them. Ctrl-C stops with a checkpoint; `--resume` goes on from it.

    Args:
        text: Plain text files, or .jsonl files with text, or with prompt and completion, of which only the completion
            is learnt; .gz, .xz and .zst are read as they are.
        output: Folder of the model.
        recipe: fast (unless given), tiny, gpt or llama, or a TOML file.
        valid: Files with validation text; without them some is held out.
        minutes: Length of the run, all in all; the recipe's if neither this nor --steps is given.
        steps: Length of the run in updates; a run of given steps resumes bit for bit.
        start_from: A finished language model to train on with more or other text; its tokenizer is kept.
        resume: Go on with the run in the folder.
        overwrite: Replace the model in the folder.
    """
    if minutes is not None and steps is not None:
        raise UsageError("--minutes and --steps exclude each other", hint="Give the length of the run once.")
    if not text and not resume:
        raise UsageError("no text was given", hint="Name a text file, or a .jsonl file.")
    from pellucid.training.train_lm import train_lm

    run = train_lm(
        text,
        output,
        recipe=recipe,
        minutes=minutes,
        steps=steps,
        settings=given_settings(settings, flags),
        valid=valid or (),
        start_from=start_from,
        resume=resume,
        overwrite=overwrite,
        device=flags.device,
        log=console.log,
    )
    code = show_training(run, lambda begun: explain_interrupt(output, resume, overwrite, begun))
    if code == 0:
        console.log(f'Try it: pellucid generate {output} "…"')
    return code

"""Flags that many commands share.

A command takes the set that makes sense for it as one argument, and the program applies it before the command runs:

    def translate(folder: Path, *, flags: ModelFlags = DEFAULT_MODEL_FLAGS) -> None: ...
"""

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.errors import UsageError

__all__ = [
    "DEFAULT_FLAGS",
    "DEFAULT_MODEL_FLAGS",
    "Flags",
    "JsonSwitch",
    "ModelFlags",
    "ShownJsonSwitch",
    "ShownSwitch",
    "Switch",
    "TextArgument",
]

Switch = Annotated[bool, Parameter(negative="", show_default=False)]
"""Type of a flag that is off unless given, such as `--overwrite`."""

JsonSwitch = Annotated[bool, Parameter(name="--json", negative="", show_default=False)]
"""Type of a command's argument `as_json`."""

ShownSwitch = Annotated[bool, Parameter(negative="")]
ShownJsonSwitch = Annotated[bool, Parameter(name="--json", negative="")]
"""The same with their default in the help."""

T = TypeVar("T")
TextArgument = Annotated[T, Parameter(allow_leading_hyphen=True)]
"""Type of an argument that is a text and may begin with a hyphen: `TextArgument[str]`, `TextArgument[str | None]`."""

_MOST_THREADS = 1024  # beyond, the process ends without a word where the system gives no more


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Flags:
    """Flags of every command."""

    threads: int | None = None
    """Processor threads to use; all cores unless given."""

    quiet: Switch = False
    """Print results, warnings and errors only."""

    def apply(self) -> None:
        """Make the flags hold for this process.

        Raises:
            UsageError: for fewer than one thread, or more than an operating system gives.
        """
        console.set_quiet(self.quiet)
        if self.threads is None:
            return
        if self.threads < 1:
            raise UsageError(
                f"expected at least one thread, got {self.threads}",
                where="--threads",
                hint="Pass a number from 1 on, or leave the flag out to use all cores.",
            )
        most = max(_MOST_THREADS, os.cpu_count() or 1)
        if self.threads > most:
            raise UsageError(
                f"expected at most {most:,} threads, got {self.threads:,}",
                where="--threads",
                hint="Leave the flag out to use all cores.",
            )
        # Not NUMBA_NUM_THREADS: Numba fails if it changes in a running process, and our kernels use one thread.
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
            os.environ[name] = str(self.threads)
        loaded: dict[str, Any] = dict(sys.modules)
        if "torch" in loaded:
            loaded["torch"].set_num_threads(self.threads)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ModelFlags(Flags):
    """Flags of every command that runs a model."""

    device: str = "auto"
    """Where the model runs: auto, cpu, cuda, cuda:1 …"""

    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """Number format of the model's arithmetic; int8 for language models only."""


DEFAULT_FLAGS = Flags()
DEFAULT_MODEL_FLAGS = ModelFlags()

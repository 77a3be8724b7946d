"""What all tests share: one thread, shapes checked, no deadline."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

# Before torch is loaded: tests are small, and equal numbers need an equal thread count.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# Checks the shapes in every signature of these packages while the tests run; must come before they are imported.
install_import_hook(["pellucid.layers", "pellucid.models"], "beartype.beartype")

settings.register_profile("pellucid", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("pellucid")

ROOT = Path(__file__).parent.parent


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_pellucid() -> Run:
    """Run `pellucid ARGUMENTS...` in a process of its own, as a user would, without a terminal."""
    given = [path for path in [os.environ.get("PYTHONPATH")] if path]

    def run(*arguments: object, stdin: str = "", cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "pellucid", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *given]), "COLUMNS": "80"},
            check=False,
        )

    return run


@pytest.fixture
def small_disk() -> Callable[[int], AbstractContextManager[None]]:
    """`with small_disk(1000):` lets no file grow beyond 1,000 bytes: a real refusal, as of a full disk."""
    import resource

    @contextmanager
    def limited(size: int) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited

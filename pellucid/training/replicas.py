"""Training in several processes, each with a copy of the model and a share of every batch.

The process of the user, rank 0, leads. The others open the run from its folder, where everything that they need stands,
and follow. They are started here, one for a processor core, or by `torchrun`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import torch

from pellucid.distributed import ALONE, Group, LostRankError, join_launched, join_local, launched_rank, launched_size
from pellucid.errors import UserError
from pellucid.training.loop import Update, follow
from pellucid.training.run import Run
from pellucid.training.state import Step

__all__ = ["dismiss_followers", "follow_launched", "follow_leader", "lead", "use_threads"]

_START, _END = 1.0, 0.0


@contextmanager
def lead(run: Run, processes: int) -> Iterator[None]:
    """Let other processes compute their shares of the run's steps within the block.

    Args:
        run: on disk as well, as far as the others need it.
        processes: how many train on this machine, this one included; `torchrun` decides it by itself.

    Raises:
        UserError: if they cannot be started.
    """
    device = next(run.model.parameters()).device
    with ExitStack() as stack:
        if launched_size() > 1:
            group = join_launched(device)
        elif processes > 1:
            group = stack.enter_context(_started(run.folder, processes))
            run.clock.seconds()  # what was spent so far was spent by all threads
            stack.enter_context(use_threads(1))
        else:
            group = ALONE
        group.announce([_START])
        group.share_weights(run.model)
        run.group = group
        try:
            yield
        finally:
            run.group = ALONE
            with suppress(LostRankError):
                Update(0).announced(group)
            group.leave()


def dismiss_followers(device: torch.device) -> None:
    """Tell the other processes of a launcher that there is nothing to train."""
    if launched_size() > 1:
        group = join_launched(device)
        group.announce([_END])
        group.leave()


def follow_leader(group: Group, open_run: Callable[[], Run]) -> None:
    """Compute this rank's shares until rank 0 announces the end.

    Args:
        group: of this process.
        open_run: opens the run from its folder; called once rank 0 has prepared it.

    Raises:
        LostRankError: if another process of the group ends.
    """
    if group.announce([_END]) == [_START]:
        run = open_run()
        group.share_weights(run.model)
        run.group = group
        follow(run)
    group.leave()


def follow_launched(open_run: Callable[[], Run], device: torch.device) -> Iterator[Step]:
    """Follow rank 0 in the group of a launcher; there are no steps to report, which rank 0 does.

    Raises:
        UserError: if another process of the group ends.
    """
    try:
        follow_leader(join_launched(device), open_run)
    except LostRankError as error:
        raise UserError(
            "another process of this training has ended",
            where=f"rank {launched_rank()}",
            hint="The same command with --resume continues from the last checkpoint.",
        ) from error
    yield from ()


@contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Compute with this many threads of PyTorch within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _started(folder: Path, processes: int) -> Iterator[Group]:
    """Start the other processes on this machine; they end with the block, and with this process however it ends."""
    with tempfile.TemporaryDirectory(prefix="pellucid-replicas-") as temporary:
        meeting, errors = Path(temporary, "meeting"), Path(temporary, "errors")
        started = []
        try:
            with errors.open("wb") as file:
                for rank in range(1, processes):
                    arguments = [str(folder), str(rank), str(processes), str(meeting)]
                    started.append(
                        subprocess.Popen(
                            [sys.executable, "-m", "pellucid.training.replica", *arguments],
                            stdin=subprocess.PIPE,  # closed when this process ends, which the other one watches
                            stdout=subprocess.DEVNULL,
                            stderr=file,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                            start_new_session=True,  # Ctrl-C is for this process, which then ends the others
                        )
                    )
            try:
                yield join_local(0, processes, meeting)
            except LostRankError as error:
                reason = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines() or [str(error)]
                raise UserError(
                    f"the other processes of this training could not start: {reason[-1]}",
                    where=f"{processes} processes",
                    hint="Pass `--training.processes 1` to train in one process.",
                ) from error
        finally:
            for process in started:
                assert process.stdin is not None
                process.stdin.close()
                process.wait()

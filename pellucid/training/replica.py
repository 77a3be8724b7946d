"""`python -m pellucid.training.replica FOLDER RANK SIZE MEETING`: follow the training that leads in another process."""

import os
import sys
import threading
from pathlib import Path

import torch

from pellucid.distributed import LostRankError, join_local
from pellucid.storage.model_folder import read_json
from pellucid.training.replicas import follow_leader
from pellucid.training.train_lm import open_lm_run
from pellucid.training.train_translator import open_translator_run

__all__ = ["main"]


def main() -> None:
    """Train along until the leader has finished, or has ended."""
    folder, rank, size, meeting = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    threading.Thread(target=_end_with_leader, daemon=True).start()
    torch.set_num_threads(1)
    open_run = {"translator": open_translator_run, "language-model": open_lm_run}
    kind = read_json(folder / "config.json")["kind"]
    try:
        follow_leader(join_local(rank, size, meeting), lambda: open_run[kind](folder, torch.device("cpu")))
    except LostRankError:
        sys.exit(1)  # the leader explains it


def _end_with_leader() -> None:
    """End this process as soon as the leader closes the pipe, as the system does if it is killed."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()

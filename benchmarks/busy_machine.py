"""How fast training is on a quiet machine and beside a busy process, with threads, with processes, and as chosen.

    python benchmarks/busy_machine.py [--steps 30] [--cores 0 1] [--rounds 3] [--recipe fast]

Every case trains the recipe on sentences of the demo language in a process of its own, pinned to the given cores. The
cases take turns, so that a change of the machine's speed meets all of them. "Beside a busy process" means that a loop
that never waits runs on one of these cores. Rates are target tokens per second by the wall: the median over the steps
of a case, then over the rounds; the ratio is to one thread on a quiet machine.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PAIRS = 2_000
WARM_UP = 5

PROGRAM = """
import json, os, sys
source, out, recipe, steps, threads, settings, cores = json.loads(sys.argv[1])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, cores)
import torch
torch.set_num_threads(threads)
from pellucid.training.train_translator import train_translator
settings |= {"training.validations": 0, "training.adapt": False, "training.log_steps": 1}
run = train_translator([source], out, recipe=recipe, steps=steps, settings=settings)
print(json.dumps([step.tokens_per_second for step in run]))
"""


def cases(cores: int) -> dict[str, tuple[int, dict[str, object]]]:
    """Map the name of a case to its threads and settings."""
    found: dict[str, tuple[int, dict[str, object]]] = {}
    for precision in ("float32", "bfloat16"):
        settings = {"training.precision": precision}
        found[f"{precision}, 1 thread"] = 1, {**settings, "training.processes": 1}
        found[f"{precision}, {cores} threads"] = cores, {**settings, "training.processes": 1}
        found[f"{precision}, {cores} processes"] = cores, {**settings, "training.processes": cores}
    found["as chosen"] = cores, {}
    return found


@contextlib.contextmanager
def busy_process(core: int | None) -> Iterator[None]:
    """Keep one core busy for the duration of the block; None keeps none busy."""
    if core is None:
        yield
        return
    process = multiprocessing.Process(target=_loop, args=(core,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _loop(core: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    while True:
        pass


def measure(
    source: Path, recipe: str, steps: int, threads: int, settings: dict[str, object], cores: list[int]
) -> float:
    """Train in a new process; return the median of its rates, tokens per second."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = json.dumps([str(source), f"{folder}/model", recipe, steps + WARM_UP, threads, settings, cores])
        finished = subprocess.run(
            [sys.executable, "-c", PROGRAM, arguments], capture_output=True, text=True, check=True
        )
    return statistics.median(json.loads(finished.stdout)[WARM_UP:])


def main() -> None:
    """Measure all cases in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--cores", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    from pellucid.demo.language import split

    rates: dict[tuple[str, bool], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "pairs.tsv")
        pairs = split(PAIRS, valid_pairs=10, test_pairs=10).train
        source.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")
        for _ in range(options.rounds):
            for busy in (False, True):
                for name, (threads, settings) in cases(len(options.cores)).items():
                    with busy_process(options.cores[-1] if busy else None):
                        rate = measure(source, options.recipe, options.steps, threads, settings, options.cores)
                    rates.setdefault((name, busy), []).append(rate)
    base = statistics.median(rates["float32, 1 thread", False])
    print("| case | quiet, tokens/s | ratio | beside a busy process | ratio |")
    print("|---|---|---|---|---|")
    for name in cases(len(options.cores)):
        quiet, busy_rate = (statistics.median(rates[name, busy]) for busy in (False, True))
        print(f"| {name} | {quiet:,.0f} | {quiet / base:.2f} | {busy_rate:,.0f} | {busy_rate / base:.2f} |")


if __name__ == "__main__":
    main()

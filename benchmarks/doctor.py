"""Speed and memory of the doctor.

Examines a text of a made-up language pair that it generates (every line different, 85 bytes a pair on average as in a
real collection of program texts), or a file of yours, in a process of its own for each row, and prints pairs a second
of processor time and the most memory held.

    python benchmarks/doctor.py [--pairs 1000000] [FILE ...]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor import examine
from pellucid.randomness import generator

SLOW = ("shift", "language", "near-duplicate")
WITHOUT_DUPLICATES = (*SLOW, "duplicate")


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="a text of yours; one is generated if none is given")
    parser.add_argument("--pairs", type=int, default=1_000_000, help="size of the generated text")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(arguments.files, tuple(arguments.one.split(",")) if arguments.one else ())))
        return
    print(f"{'text':<24} {'checks':<46} {'pairs':>10} {'pairs/s':>9} {'MiB':>6} {'bytes a pair':>13}")
    skips: list[tuple[str, ...]] = [SLOW, (), WITHOUT_DUPLICATES]
    if arguments.files:
        for skip in skips[:2]:
            print_row("yours", skip, in_own_process(arguments.files, skip))
        return
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.tsv", Path(folder) / "large.tsv"
        generate(small, arguments.pairs // 10)
        generate(large, arguments.pairs)
        for skip in skips:
            first = in_own_process([str(small)], skip)
            print_row("generated", skip, first)
            print_row("generated", skip, in_own_process([str(large)], skip), first)


def generate(path: Path, pairs: int) -> None:
    """Write a text of pairs that are all different: Chinese-like lines beside Latin ones, with numbers and marks."""
    draw = generator(1, "benchmark")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(pairs):
            length = min(int(draw.lognormal(2.3, 0.7)) + 1, 200)
            source = "".join(map(chr, draw.integers(0x4E00, 0x5E00, length)))
            letters = bytes(
                draw.integers(97, 123, max(int(length * 2.6 * draw.lognormal(0, 0.2)), 1)).tolist()
            ).decode()
            target = " ".join(letters[start : start + 6] for start in range(0, len(letters), 6))
            tail = f" {number}" if number % 5 == 0 else ""
            file.write(f"{source}{tail}。\t{target}{tail}.\n")


def measure(files: Sequence[str], skip: Sequence[str]) -> dict[str, float]:
    """Examine files in this process; return pairs, seconds of processor time and the most bytes held."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    report = examine(files, options=DataConfig(skip=tuple(skip))).report
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"pairs": report.pairs, "seconds": seconds, "bytes": after * 1024, "bytes_before": before * 1024}


def in_own_process(files: Sequence[str], skip: Sequence[str]) -> dict[str, float]:
    """Return what `measure` returns, from a fresh process, so that its memory is its own."""
    command = [sys.executable, __file__, *files, "--one", ",".join(skip)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def print_row(text: str, skip: Sequence[str], found: dict[str, float], smaller: dict[str, float] | None = None) -> None:
    """Print a row; beside a smaller text, also by how many bytes a pair memory grows."""
    checks = f"all but {', '.join(skip)}" if skip else "all"
    growth = "" if smaller is None else f"{growth_a_pair(found, smaller):.1f}"
    rate = found["pairs"] / found["seconds"]
    print(
        f"{text:<24} {checks:<46} {found['pairs']:>10,.0f} {rate:>9,.0f} {found['bytes'] / 2**20:>6.0f} {growth:>13}",
        flush=True,
    )


def growth_a_pair(large: dict[str, float], small: dict[str, float]) -> float:
    """Return bytes of peak memory for each pair that one text has more than another."""
    return (large["bytes"] - small["bytes"]) / (large["pairs"] - small["pairs"])


if __name__ == "__main__":
    main()

"""How long a search among a million word vectors takes, beside gensim's `most_similar`.

    python benchmarks/word_vector_search.py --peers FOLDER [--words 1000000] [--dimensions 100 300] [--core 0]

The vectors are synthetic: random numbers, which take as long as real ones. Milliseconds of one core, the median of 30
single queries, and per query of a batch of 200. Loading and the first query, in which either measures the lengths of
all rows once, are not counted. FOLDER is the environment that `word2vec.py` makes, with gensim.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy


def main() -> None:
    """Measure, and print a line for each program and dimension."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path(".word2vec-peers"))
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--worker", choices=["pellucid", "gensim"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(_WORKERS[options.worker](options.words, options.dimensions[0])))
        return
    gensim = str(options.peers.absolute() / "bin" / "python")
    for dimension in options.dimensions:
        for name, python in (("gensim", gensim), ("pellucid", sys.executable)):
            sizes = ["--words", str(options.words), "--dimensions", str(dimension)]
            done = subprocess.run(
                [python, __file__, "--worker", name, *sizes],
                preexec_fn=lambda: os.sched_setaffinity(0, {options.core}),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            batch = f", in a batch {found['batch']:.1f}" if "batch" in found else ""
            print(f"{options.words:,} words, d = {dimension}  {name:9} {found['single']:6.1f} ms a query{batch}")


def _rows(words: int, dim: int) -> numpy.ndarray:
    return numpy.random.default_rng(1).standard_normal((words, dim), dtype=numpy.float32)


def _median(search: Callable[[str], object]) -> float:
    search("w0")
    taken = []
    for number in range(1, 31):
        began = time.perf_counter()
        search(f"w{number}")
        taken.append(1e3 * (time.perf_counter() - began))
    return statistics.median(taken)


def _pellucid(words: int, dim: int) -> dict[str, float]:
    from pellucid import WordVectors

    vectors = WordVectors([f"w{number}" for number in range(words)], _rows(words, dim))
    single = _median(lambda word: vectors.similar(word, 10))
    began = time.perf_counter()
    vectors.similar_batch([f"w{number}" for number in range(200)], 10)
    return {"single": single, "batch": 1e3 * (time.perf_counter() - began) / 200}


def _gensim(words: int, dim: int) -> dict[str, float]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(dim)
    vectors.add_vectors([f"w{number}" for number in range(words)], _rows(words, dim))
    return {"single": _median(lambda word: vectors.most_similar(word, topn=10))}


_WORKERS = {"pellucid": _pellucid, "gensim": _gensim}

if __name__ == "__main__":
    main()

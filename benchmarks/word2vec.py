"""Words a second of word vector training, beside gensim and fastText: same text, same settings, same cores.

    python benchmarks/word2vec.py TEXT --peers FOLDER [--dimensions 100 300] [--rounds 3] [--cores 0,1]

TEXT has a sentence a line, words between spaces (short lines: gensim drops what follows word 10,000 of one). FOLDER
becomes an environment of its own with gensim and fastText, made by pip at the first run. Window 5, 5 negatives, sample
1e-3, words that stand 5 times. Each measurement is a process of its own, pinned to one core (or two, for the rows that
say so), and the programs take turns, so that a change of the machine's mood meets all of them. A row is the median of
the rounds.

What is timed is one pass of training, by processor time: for Pellucid and gensim after counting, for fastText as two
passes less one. "count" is counting and encoding against gensim's build_vocab.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

MODELS = ("skip-gram", "cbow")
VERSIONS = ("gensim==4.4.0", "fasttext==0.9.3")


def main() -> None:
    """Measure, and print the table."""
    options = _options()
    if options.worker:
        print(json.dumps(_WORKERS[options.worker](options)))
        return
    peers = _peers(options.peers)
    one, *more = options.cores.split(",")
    print(f"load average before: {os.getloadavg()[0]:.2f}; cores {options.cores}")
    words = 0
    for dimension in options.dimensions:
        for model in MODELS:
            rows = {
                "gensim": (peers, "gensim", one, ()),
                "fastText": (peers, "fasttext", one, ()),
                "pellucid": (sys.executable, "pellucid", one, ()),
                "pellucid --fast": (sys.executable, "pellucid", one, ("--fast",)),
            }
            if more:
                both = f"{one},{more[0]}"
                rows["gensim, 2 threads"] = (peers, "gensim", both, ("--threads", "2"))
                rows["pellucid, 2 threads"] = (sys.executable, "pellucid", both, ("--threads", "2"))
                rows["pellucid --fast, 2 threads"] = (sys.executable, "pellucid", both, ("--fast", "--threads", "2"))
            if options.without_fasttext:
                del rows["fastText"]
            found: dict[str, list[dict[str, float]]] = {name: [] for name in rows}
            for number in range(options.rounds):
                order = list(rows) if number % 2 == 0 else list(rows)[::-1]
                for name in order:
                    python, worker, cores, flags = rows[name]
                    arguments = [str(options.text), "--model", model, "--dimension", str(dimension), *flags]
                    found[name].append(_measured(python, worker, cores, arguments))
            words = int(found["pellucid"][0]["words"])
            _print_table(f"{model}, dimension {dimension}, {words:,} words", found, words)
    print(f"load average after: {os.getloadavg()[0]:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--peers", type=Path, default=Path(".word2vec-peers"))
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", default="0", help="one core, or two separated by a comma")
    parser.add_argument("--without-fasttext", action="store_true")
    parser.add_argument("--worker", choices=["gensim", "fasttext", "pellucid"], help=argparse.SUPPRESS)
    parser.add_argument("--model", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--dimension", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--fast", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def _peers(folder: Path) -> str:
    """Return the interpreter of an environment with the peers, made if there is none."""
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *VERSIONS], check=True)
    return str(python)


def _measured(python: str, worker: str, cores: str, arguments: list[str]) -> dict[str, float]:
    """Run a worker on the given cores and return what it measured."""
    pinned = {int(core) for core in cores.split(",")}
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    ended = subprocess.run(
        [python, __file__, *arguments, "--worker", worker],
        env={**os.environ, **threads},
        preexec_fn=lambda: os.sched_setaffinity(0, pinned),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(ended.stdout.strip().splitlines()[-1])
    return result


def _print_table(title: str, found: dict[str, list[dict[str, float]]], words: int) -> None:
    print(f"\n{title}")
    print(f"{'':28}{'M words/CPU-s':>14}{'x gensim':>10}{'M words/s':>11}{'count, CPU-s':>14}")

    def median(name: str, field: str) -> float:
        return statistics.median(one[field] for one in found[name])

    for name, measured in found.items():
        rate = words / median(name, "cpu") / 1e6
        peer = words / median("gensim", "cpu") / 1e6
        count = f"{median(name, 'count'):14.2f}" if "count" in measured[0] else ""
        spread = (max(one["cpu"] for one in measured) / min(one["cpu"] for one in measured) - 1) * 100
        wall = words / median(name, "wall") / 1e6
        print(f"{name:28}{rate:14.3f}{rate / peer:10.2f}{wall:11.3f}{count}   spread {spread:.0f} %")


class _Timer:
    """Processor and wall time of a block."""

    def __enter__(self) -> "_Timer":
        self._began = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *of_error: object) -> None:
        self.cpu = time.process_time() - self._began[0]
        self.wall = time.perf_counter() - self._began[1]


def _pellucid(options: argparse.Namespace) -> dict[str, float]:
    import tempfile

    from pellucid.word_vectors.config import vectors_config
    from pellucid.word_vectors.encoded_text import encode_text
    from pellucid.word_vectors.training import VectorsTraining

    settings = {"dim": options.dimension, "model": options.model, "epochs": 1, "fast": options.fast}
    config = vectors_config(settings)
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny"
        tiny.mkdir()
        (tiny / "text").write_text("a b c\n" * 20, encoding="utf-8")
        list(VectorsTraining(encode_text(tiny / "text", tiny), config, threads=1))  # fetches the machine code
        with _Timer() as count:
            text = encode_text(options.text, Path(folder))
        training = VectorsTraining(text, config, threads=options.threads)
        with _Timer() as timer:
            for _ in training:
                pass
        return {"words": len(text.ids.ids), "cpu": timer.cpu, "wall": timer.wall, "count": count.cpu}


def _gensim(options: argparse.Namespace) -> dict[str, float]:
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=options.dimension,
        window=5,
        negative=5,
        sample=1e-3,
        min_count=5,
        sg=int(options.model == "skip-gram"),
        alpha=0.025 if options.model == "skip-gram" else 0.05,
        workers=options.threads,
        epochs=1,
    )
    with _Timer() as count:
        model.build_vocab(corpus_file=str(options.text))
    with _Timer() as timer:
        model.train(
            corpus_file=str(options.text),
            total_words=model.corpus_total_words,
            total_examples=model.corpus_count,
            epochs=1,
        )
    words = sum(int(model.wv.get_vecattr(word, "count")) for word in model.wv.index_to_key)
    return {"words": words, "cpu": timer.cpu, "wall": timer.wall, "count": count.cpu}


def _fasttext(options: argparse.Namespace) -> dict[str, float]:
    import fasttext

    def run(epochs: int) -> _Timer:
        with _Timer() as timer:
            fasttext.train_unsupervised(
                str(options.text),
                model={"skip-gram": "skipgram", "cbow": "cbow"}[options.model],
                dim=options.dimension,
                ws=5,
                neg=5,
                t=1e-3,
                minCount=5,
                minn=0,
                maxn=0,
                epoch=epochs,
                thread=options.threads,
                verbose=0,
            )
        return timer

    one, two = run(1), run(2)
    return {"words": 0, "cpu": two.cpu - one.cpu, "wall": two.wall - one.wall}


_WORKERS = {"pellucid": _pellucid, "gensim": _gensim, "fasttext": _fasttext}

if __name__ == "__main__":
    main()

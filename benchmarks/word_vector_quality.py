"""How good the vectors of each mode are, gensim's beside them: analogies, WordSim-353 and SimLex-999, three seeds.

    python benchmarks/word_vector_quality.py TEXT TESTS --peers FOLDER [--dimensions 100 300] [--seeds 3] [--exact]

TEXT as for `word2vec.py`, in exactly whose modes this is; TESTS is a folder with questions-words.txt, wordsim353.tsv
and simlex999.txt, as gensim brings them. Five epochs, window 5, 5 negatives, sample 1e-3, words that stand 5 times;
analogies are answered among the 30,000 most frequent words, the question's words excluded. A row is the mean over the
seeds and, behind ±, their standard deviation. `--exact` adds CBOW by either gradient at several learning rates (the
classic one at 0.05 is the row without a name).
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

MODELS = ("skip-gram", "cbow")
RATES = {"skip-gram": 0.025, "cbow": 0.05}


def main() -> None:
    """Train, measure, and print a line a row as it is done."""
    options = _options()
    if options.worker:
        _gensim(options)
        return
    modes: dict[str, dict[str, object] | None] = {"gensim": None, "pellucid": {}, "pellucid --fast": {"fast": True}}
    print("model  d  mode  M words/CPU-s  analogies  semantic  syntactic  WordSim  SimLex  covered")
    for dimension in options.dimensions:
        for model in MODELS:
            rows = dict(modes)
            if options.exact and model == "cbow":
                for gradient, rates in (("classic", (0.025, 0.1)), ("exact", (0.05, 0.1, 0.2, 0.3))):
                    for rate in rates:
                        rows[f"{gradient} gradient, {rate}"] = {"cbow_gradient": gradient, "learning_rate": rate}
            for name, settings in rows.items():
                if options.only and name not in options.only:
                    continue
                found = []
                for seed in range(1, options.seeds + 1):
                    with tempfile.TemporaryDirectory() as folder:
                        found.append(_row(options, model, dimension, seed, settings, Path(folder)))
                _print_row(f"{model}  {dimension}  {name}", found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--peers", type=Path, default=Path(".word2vec-peers"))
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--only", nargs="+", help="the rows to make, by their names")
    parser.add_argument("--worker", choices=["gensim"], help=argparse.SUPPRESS)
    parser.add_argument("--model", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--dimension", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    return parser.parse_args()


def _row(
    options: argparse.Namespace, model: str, dimension: int, seed: int, settings: dict[str, object] | None, folder: Path
) -> dict[str, float]:
    """Train once and return the scores."""
    from pellucid import WordVectors
    from pellucid.evaluation.analogies import analogy_accuracy
    from pellucid.evaluation.word_similarity import similarity_correlation

    rate = 0.0
    if settings is None:
        vectors = _of_gensim(options, model, dimension, seed, folder)
    else:
        import time

        from pellucid.word_vectors.config import vectors_config
        from pellucid.word_vectors.encoded_text import encode_text
        from pellucid.word_vectors.training import VectorsTraining

        text = encode_text(options.text, folder)
        config = vectors_config({"dim": dimension, "model": model, "seed": seed, "epochs": 5, **settings})
        training = VectorsTraining(text, config, threads=options.threads)
        began = time.process_time()
        for _ in training:
            pass
        rate = 5 * len(text.ids.ids) / (time.process_time() - began) / 1e6
        made = training.vectors()
        # No counts: the first 30,000 rows are the most frequent words for both.
        vectors = WordVectors(list(made.words), made.input_vectors)
    answers = analogy_accuracy(vectors, options.tests / "questions-words.txt")
    similar = [similarity_correlation(vectors, options.tests / name) for name in ("wordsim353.tsv", "simlex999.txt")]
    return {
        "rate": rate,
        "analogies": answers.total.accuracy or 0.0,
        "semantic": answers.semantic.accuracy or 0.0,
        "syntactic": answers.syntactic.accuracy or 0.0,
        "wordsim": similar[0].spearman or 0.0,
        "simlex": similar[1].spearman or 0.0,
        "covered": answers.total.covered,
        "pairs": similar[0].covered + similar[1].covered,
    }


def _of_gensim(options: argparse.Namespace, model: str, dimension: int, seed: int, folder: Path):
    from pellucid import WordVectors

    python = options.peers.absolute() / "bin" / "python"
    output = folder / "vectors.bin"
    arguments = ["--worker", "gensim", "--model", model, "--dimension", str(dimension), "--seed", str(seed)]
    subprocess.run(
        [str(python), __file__, str(options.text), str(options.tests), *arguments, "--output", str(output)], check=True
    )
    return WordVectors.load(output, "word2vec-binary")


def _print_row(name: str, found: list[dict[str, float]]) -> None:
    def shown(field: str) -> str:
        values = [one[field] for one in found]
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return f"{statistics.mean(values):.3f} ± {spread:.3f}"

    fields = ("rate", "analogies", "semantic", "syntactic", "wordsim", "simlex")
    covered = f"{found[0]['covered']:.0f} questions, {found[0]['pairs']:.0f} pairs"
    print("  ".join([name, *(shown(field) for field in fields), covered]), flush=True)


def _gensim(options: argparse.Namespace) -> None:
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=str(options.text),
        vector_size=options.dimension,
        window=5,
        negative=5,
        sample=1e-3,
        min_count=5,
        sg=int(options.model == "skip-gram"),
        alpha=RATES[options.model],
        workers=1,
        epochs=5,
        seed=options.seed,
    )
    model.wv.save_word2vec_format(options.output, binary=True)


if __name__ == "__main__":
    main()

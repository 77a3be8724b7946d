"""Ablations of the `fast` recipe: what each ingredient contributes.

    python benchmarks/fast_recipe.py TRAIN VALID TEST -o FOLDER [--minutes 2.5] [--seeds 1 2 3] [--without NAME …]

Each run has one thread and the same CPU time, reading, tokenizer and aligner included. The validation file decides
between settings; the test file is translated once at the end of each run (all lines, greedy and beam 4, sacreBLEU).
Results are appended to FOLDER/results.jsonl, one line per run, and not computed again; the table is printed from there.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch

import pellucid
from pellucid.corpus.reading import read_pairs
from pellucid.evaluation.translation_metrics import score_translations
from pellucid.training.train_translator import train_translator

WITHOUT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "lexical initialisation": {"initialise.from_lexicon": False},
    "identity cross-attention": {"initialise.identity_cross_attention": False},
    "guided heads": {"training.guided_weight": 0},
    "RoPE in cross-attention": {"model.cross_positions": "none"},
    "RoPE (sinusoids instead)": {"model.positions": "sinusoidal", "model.cross_positions": "none"},
    "small batches (4,096 tokens instead)": {"training.batch_tokens": 4096},
    "weight decay": {"training.weight_decay": 0},
    "a schedule shaped by time (constant instead)": {"training.schedule": "constant"},
    "SwiGLU (ReLU instead)": {
        "model.activation": "relu",
        "model.d_model": 192,
        "model.n_heads": 3,
        "model.d_ff": 768,
    },
    "small width (256 instead of 192)": {"model.d_model": 256},
    "all of lexicon, identity cross-attention, guidance, RoPE": {
        "initialise.from_lexicon": False,
        "initialise.identity_cross_attention": False,
        "training.guided_weight": 0,
        "model.positions": "sinusoidal",
        "model.cross_positions": "none",
    },
}


def run(
    files: tuple[str, str, str], folder: Path, without: str, minutes: float, seed: int, beams: list[int]
) -> dict[str, Any]:
    """Train once, and translate the test set with each beam size."""
    train, valid, test = files
    settings = {
        **WITHOUT[without],
        "training.seed": seed,
        "training.clock": "cpu",
        "training.validations": 1,
        "training.validation_sentences": 0,
    }
    languages = {"source_lang": "src", "target_lang": "tgt"}
    steps = train_translator(
        [train], folder, valid=[valid], minutes=minutes, settings=settings, overwrite=True, **languages
    )
    for _ in steps:
        pass
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))["training"]
    pairs = list(read_pairs([test]))
    model = pellucid.load(folder)
    figures: dict[str, Any] = {}
    for beam in beams:
        found = [result.text for result in model.translate([pair.source for pair in pairs], beam=beam)]
        scores = score_translations(found, [pair.target for pair in pairs], None)
        figures |= {f"bleu_beam_{beam}": scores.bleu, f"chrf_beam_{beam}": scores.chrf}
        figures["signatures"] = scores.signatures
    return {
        "without": without,
        "minutes": minutes,
        "seed": seed,
        "valid": min(report["validation_losses"].values()),
        "steps": report["steps"],
        "epochs": report["epochs"],
        "target_tokens": report["target_tokens"],
        "seconds": report["seconds"],
        **figures,
    }


COLUMNS = {
    "steps": ("steps", 0),
    "valid": ("valid, nats", 2),
    "bleu_beam_1": ("BLEU greedy", 1),
    "bleu_beam_4": ("BLEU beam 4", 1),
    "chrf_beam_4": ("chrF beam 4", 1),
}


def table(results: list[dict[str, Any]]) -> str:
    """Format the results as a Markdown table, several seeds as their mean and range."""
    columns = [name for name in COLUMNS if any(name in result for result in results)]
    heads = ["without", "CPU-minutes", "seeds", *(COLUMNS[name][0] for name in columns)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["without"], result["minutes"]), []).append(result)
    for (without, minutes), group in sorted(groups.items(), key=lambda item: item[0][1]):
        cells = [_shown([result[name] for result in group if name in result], COLUMNS[name][1]) for name in columns]
        lines.append(f"| {' | '.join([without, f'{minutes:g}', str(len(group)), *cells])} |")
    return "\n".join(lines)


def _shown(values: list[float], digits: int) -> str:
    if not values:
        return ""
    mean = f"{sum(values) / len(values):.{digits}f}"
    return f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})" if len(values) > 1 else mean


def main() -> None:
    """Run the requested ablations that have no result yet, and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("train", "valid", "test"):
        options.add_argument(name, help=f"{name} pairs, in any format of `pellucid train translator`")
    options.add_argument("-o", "--output", type=Path, required=True, help="folder for the results and the last model")
    options.add_argument("--minutes", type=float, nargs="+", default=[2.5], help="CPU minutes of each run")
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("--beams", type=int, nargs="+", default=[1, 4], help="beam sizes for the test set")
    options.add_argument("--without", nargs="+", default=list(WITHOUT), choices=list(WITHOUT), metavar="NAME")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    chosen.output.mkdir(parents=True, exist_ok=True)
    place = chosen.output / "results.jsonl"
    results = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()] if place.exists() else []
    done = {(result["without"], result["minutes"], result["seed"]) for result in results}
    for minutes in chosen.minutes:
        for seed in chosen.seeds:
            for without in chosen.without:
                if (without, minutes, seed) not in done:
                    files = (chosen.train, chosen.valid, chosen.test)
                    results.append(run(files, chosen.output / "model", without, minutes, seed, chosen.beams))
                    with place.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(results[-1]) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()

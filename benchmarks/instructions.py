"""Whether one model obeys: four tasks of the demo language in one vocabulary, measured on unseen sentences.

    python benchmarks/instructions.py -o FOLDER [--minutes 10] [--seeds 1] [--pairs 20000]

Trains the `fast` recipe for so many minutes of one core's processor time, preparation included, on instructions made of
the demo language's training pairs (zh→en, en→zh, the head word) and on plain texts of its sentences; then asks for each
task on the test pairs, none of which is in training, greedily. An answer counts if it is right to the letter; two test
pairs in five combine words that never stood together in training, and are also counted alone. Without an instruction
the model gets the first half of a sentence: it counts if what comes is of the same language and ends like a sentence.
Results are kept in FOLDER/results.jsonl, and the table is printed from there.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import torch

import pellucid
from pellucid.demo.instructions import score_instructions, training_records, write_instructions
from pellucid.demo.language import split
from pellucid.training.train_lm import train_lm


def run(folder: Path, minutes: float, seed: int, pairs: int) -> dict[str, Any]:
    """Train once and return how the model does."""
    data, out = split(pairs), folder / f"seed-{seed}"
    for name, chosen in (("train", data.train), ("valid", data.valid)):
        write_instructions(folder / f"{name}.jsonl", training_records(chosen))
    settings = {"training.clock": "cpu", "training.seed": seed, "training.validations": 1}
    train, valid = [folder / "train.jsonl"], [folder / "valid.jsonl"]
    for _ in train_lm(train, out, minutes=minutes, settings=settings, valid=valid, overwrite=True, log=print):
        pass
    model = pellucid.load(out)

    def go_on(prompts: Sequence[str]) -> list[str]:
        return [found.text for found in model.generate(list(prompts), tokens=60, temperature=0)]

    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {
        "seed": seed,
        "minutes": minutes,
        "model": json.loads((out / "config.json").read_text(encoding="utf-8"))["model"],
        "tokens": report["training"]["target_tokens"],
        "all": [list(one) for one in score_instructions(data.test, go_on)],
        "unseen combinations": [list(one) for one in score_instructions(data.unseen_combinations, go_on)],
    }


def main() -> None:
    """Run the seeds that are not there yet, and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("-o", "--output", type=Path, required=True, help="folder for texts, models and results")
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("--pairs", type=int, default=20_000, help="training pairs")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    folder: Path = chosen.output
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.jsonl"
    results = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    for seed in chosen.seeds:
        if not any((one["seed"], one["minutes"]) == (seed, chosen.minutes) for one in results):
            results.append(run(folder, chosen.minutes, seed, chosen.pairs))
            with kept.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(results[-1], ensure_ascii=False) + "\n")
    print(
        "| seed | minutes | task | asked | right | asked, unseen combinations | right |\n|---|---|---|---|---|---|---|"
    )
    for one in results:
        for (task, n, right), (_, unseen, unseen_right) in zip(one["all"], one["unseen combinations"], strict=True):
            print(
                f"| {one['seed']} | {one['minutes']:g} | {task} | {n} | {right:.1%} | {unseen} | {unseen_right:.1%} |"
            )


if __name__ == "__main__":
    main()

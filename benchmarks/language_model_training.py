"""How fast a language model trains and learns on one core, compared with nanoGPT on the same text.

    python benchmarks/language_model_training.py NANOGPT TRAIN VALID -o FOLDER [--parts speed curve ablation]

NANOGPT is a folder with nanoGPT's `model.py` (github.com/karpathy/nanoGPT); TRAIN and VALID are plain texts. Tokens are
characters; everything is pinned to one core and measured in CPU time.

speed     Both train the same shapes, one step each in turn: nanoGPT's configuration for a CPU (4 layers, 4 heads, width
          128, context 64, batch 12) and its 6 × 384 (context 256, batch 12). nanoGPT runs as in its train.py on a CPU:
          float32, not compiled. Ours is `pellucid train lm` with the same parts (learned positions, LayerNorm, GELU, no
          biases), including everything that its steps do.
curve     nanoGPT's CPU configuration for 2,000 iterations, then our `fast` recipe with half the CPU time that took,
          reading and preparing included. Both are measured on all of VALID, nats per character, in windows of their
          context that do not overlap.
ablation  The fast recipe again for the same time, each time with one ingredient as in nanoGPT or in a longer run.

Results are appended to FOLDER/results.jsonl, one line per run, and not computed again; the tables are made from there.
"""

import argparse
import importlib.util
import json
import math
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
import torch
import torch.nn.functional as F

from pellucid.training.train_lm import train_lm

CHARACTERS: dict[str, object] = {"tokenizer.kind": "characters", "training.sample_tokens": 0, "data.documents": "file"}

# What a recipe of nanoGPT's parts is, but for sizes; its biases are off by default.
GPT_PARTS: dict[str, object] = {
    "model.positions": "learned",
    "model.norm": "layernorm",
    "model.activation": "gelu",
    "model.bias": False,
    "model.dropout": 0.0,
    "model.attention_dropout": 0.0,
}


class Shape(NamedTuple):
    """A model configuration that both train."""

    name: str
    n_layers: int
    n_heads: int
    d_model: int
    context: int
    batch: int


SHAPES = (Shape("4 × 128, context 64", 4, 4, 128, 64, 12), Shape("6 × 384, context 256", 6, 6, 384, 256, 12))

ITERATIONS, WARMUP, RATE, LOWEST = 2000, 100, 1e-3, 1e-4  # nanoGPT's README for a CPU, config/train_shakespeare_char.py

ABLATION: dict[str, dict[str, object]] = {
    "learned positions": {"model.positions": "learned"},
    "LayerNorm": {"model.norm": "layernorm"},
    "GELU, 4 d wide": {"model.activation": "gelu", "model.d_ff": 512},
    "no average of the weights": {"training.average_decay": "none"},
    "nanoGPT's learning rate, 1e-3": {"training.learning_rate": 1e-3},
    "nanoGPT's schedule, cosine": {"training.schedule": "cosine"},
    "float32": {"training.precision": "float32"},
    "steps of 2,048 tokens, context 256": {
        "training.batch_tokens": 2048,
        "training.learning_rate": 3e-3,
        "training.warmup_steps": 100,
        "model.max_positions": 256,
    },
}


class NanoGPT:
    """nanoGPT's model and loop, as its train.py runs them on a CPU."""

    def __init__(self, folder: Path, shape: Shape, text: str, characters: str, seed: int = 1337) -> None:
        spec = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["nanogpt_model"] = module
        spec.loader.exec_module(module)
        torch.manual_seed(seed)
        sizes = {"n_layer": shape.n_layers, "n_head": shape.n_heads, "n_embd": shape.d_model}
        config = module.GPTConfig(
            block_size=shape.context, vocab_size=len(characters), dropout=0.0, bias=False, **sizes
        )
        self.shape = shape
        self.model = module.GPT(config)
        self.optimizer = self.model.configure_optimizers(1e-1, RATE, (0.9, 0.99), "cpu")
        self.ids = encode(text, characters)
        self.iteration = 0

    def step(self) -> float:
        """Run an iteration, and return its loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        starts = torch.randint(len(self.ids) - self.shape.context, (self.shape.batch,))
        x, y = (
            torch.stack(
                [torch.from_numpy(self.ids[i + k : i + k + self.shape.context].astype(numpy.int64)) for i in starts]
            )
            for k in (0, 1)
        )
        _, loss = self.model(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.iteration += 1
        return float(loss.detach())

    def validation_loss(self, ids: numpy.ndarray) -> float:
        """Measure a whole text in windows that do not overlap, nats per character."""
        self.model.eval()
        total, context = 0.0, self.shape.context
        with torch.no_grad():
            for start in range(0, len(ids) - 1, 64 * context):
                stretch = ids[start : start + 64 * context + 1].astype(numpy.int64)
                rows = (len(stretch) - 1) // context
                parts = [stretch[: rows * context + 1]] if rows else []
                if len(stretch) - 1 > rows * context:
                    parts.append(stretch[rows * context :])
                for part in parts:
                    width = min(context, len(part) - 1)
                    x, y = (torch.from_numpy(part[k : len(part) - 1 + k]).view(-1, width) for k in (0, 1))
                    logits, _ = self.model(x, y)
                    total += float(F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum"))
        self.model.train()
        return total / (len(ids) - 1)

    def _rate(self) -> float:
        if self.iteration < WARMUP:
            return RATE * (self.iteration + 1) / (WARMUP + 1)
        share = min(1.0, (self.iteration - WARMUP) / (ITERATIONS - WARMUP))
        return LOWEST + 0.5 * (1 + math.cos(math.pi * share)) * (RATE - LOWEST)


def encode(text: str, characters: str) -> numpy.ndarray:
    """Encode a text as character ids."""
    place = {sign: number for number, sign in enumerate(characters)}
    return numpy.array([place[sign] for sign in text], numpy.uint16)


def pellucid_settings(shape: Shape, precision: str) -> dict[str, object]:
    """Build the settings of the same shape and parts for `train_lm`."""
    return {
        **CHARACTERS,
        **GPT_PARTS,
        "model.n_layers": shape.n_layers,
        "model.n_heads": shape.n_heads,
        "model.d_model": shape.d_model,
        "model.d_ff": 4 * shape.d_model,
        "model.max_positions": shape.context,
        "training.batch_tokens": shape.batch * shape.context,
        "training.micro_batch_tokens": shape.batch * shape.context,
        "training.precision": precision,
        "training.validations": 0,
    }


def speed(nanogpt: Path, train: Path, folder: Path, steps: int) -> Iterator[dict[str, Any]]:
    """Yield the speed of each contender at each shape, tokens per second of CPU time."""
    text = train.read_text(encoding="utf-8")
    characters = "".join(sorted(set(text)))
    for shape in SHAPES:
        theirs = NanoGPT(nanogpt, shape, text, characters)
        ways: dict[str, Callable[[], object]] = {"nanoGPT, float32": theirs.step}
        runs = []
        for precision in ("float32", "bfloat16"):
            out = folder / "speed"
            shutil.rmtree(out, ignore_errors=True)
            run = train_lm([train], out, recipe="gpt", steps=10**7, settings=pellucid_settings(shape, precision))
            runs.append(run)
            ways[f"Pellucid, {precision}"] = lambda run=run: next(run)
            next(run)  # prepares
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(steps + 3):
            for name, step in ways.items():
                began = time.process_time()
                step()
                if number >= 3:
                    seconds[name].append(time.process_time() - began)
        for run in runs:
            run.close()  # type: ignore[attr-defined]  # a generator
        for name, measured in seconds.items():
            rate = shape.batch * shape.context / statistics.median(measured)
            yield {"part": "speed", "shape": shape.name, "way": name, "tokens_per_second": rate}


def train_nanogpt(nanogpt: Path, train: Path, valid: Path, seed: int) -> dict[str, Any]:
    """Train nanoGPT's CPU configuration, recording CPU time and validation loss along the way."""
    text, held = train.read_text(encoding="utf-8"), valid.read_text(encoding="utf-8")
    characters = "".join(sorted(set(text + held)))
    theirs, ids = NanoGPT(nanogpt, SHAPES[0], text, characters, seed), encode(held, characters)
    spent, points = 0.0, []
    for number in range(1, ITERATIONS + 1):
        began = time.process_time()
        theirs.step()
        spent += time.process_time() - began
        if number % 250 == 0:
            points.append([spent, theirs.validation_loss(ids)])
    return {"part": "curve", "way": "nanoGPT", "seed": seed, "seconds": spent, "loss": points[-1][1], "points": points}


def train_pellucid(
    train: Path, valid: Path, folder: Path, seconds: float, seed: int, changed: dict[str, object]
) -> dict[str, Any]:
    """Train the fast recipe for the given CPU time, preparation included; measure nats per character."""
    out = folder / "fast"
    shutil.rmtree(out, ignore_errors=True)
    settings = {
        **CHARACTERS,
        **changed,
        "training.clock": "cpu",
        "training.seed": seed,
        "training.validation_tokens": 10**9,
    }
    for _ in train_lm([train], out, minutes=seconds / 60, settings=settings, valid=[valid]):
        pass
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    config = json.loads((out / "config.json").read_text(encoding="utf-8"))
    split, training = report["data"]["validation"], report["training"]
    loss = training["validation_losses"][training["weights"]]
    characters = len(valid.read_text(encoding="utf-8").strip())
    return {
        "way": "Pellucid fast",
        "seed": seed,
        "seconds": seconds,
        "loss": loss * split["predicted_tokens"] / characters,
        "tokens": training["target_tokens"],
        "steps": training["steps"],
        "model": config["model"],
    }


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Read the results so far."""
    path = folder / "results.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def append_result(folder: Path, result: dict[str, Any]) -> None:
    """Add a result."""
    with (folder / "results.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(result) + "\n")


def print_tables(results: list[dict[str, Any]]) -> None:
    """Print the results as tables."""
    rates = {(one["shape"], one["way"]): one["tokens_per_second"] for one in results if one["part"] == "speed"}
    if rates:
        print("\n| shape | way | tokens/s | against nanoGPT |\n|---|---|---|---|")
    for (shape, way), rate in rates.items():
        print(f"| {shape} | {way} | {rate:,.0f} | {rate / rates[shape, 'nanoGPT, float32']:.2f}× |")
    curves = [one for one in results if one["part"] == "curve"]
    if curves:
        print("\n| way | seed | processor time, s | validation loss, nats a character |\n|---|---|---|---|")
    for one in curves:
        print(f"| {one['way']} | {one['seed']} | {one['seconds']:.0f} | {one['loss']:.4f} |")
    ablation = [one for one in results if one["part"] == "ablation"]
    if ablation:
        print("\n| changed | seed | steps | validation loss, nats a character |\n|---|---|---|---|")
        nothing = [{"changed": "nothing", **one} for one in curves if one["way"] == "Pellucid fast"]
        ablation = nothing + ablation
    for one in ablation:
        print(f"| {one['changed']} | {one['seed']} | {one['steps']:,} | {one['loss']:.4f} |")


def main() -> None:
    """Run the requested parts that have no result yet, and print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("nanogpt", type=Path, help="folder with nanoGPT's model.py")
    options.add_argument("train", type=Path, help="plain text for training")
    options.add_argument("valid", type=Path, help="plain text for validation")
    options.add_argument("-o", "--output", type=Path, required=True, help="folder for the results")
    options.add_argument("--parts", nargs="+", default=["speed", "curve"], choices=["speed", "curve", "ablation"])
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("--steps", type=int, default=20, help="measured steps of each contender")
    options.add_argument("--core", type=int, default=0, help="core to run on")
    chosen = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {chosen.core})
    torch.set_num_threads(1)
    folder = chosen.output
    folder.mkdir(parents=True, exist_ok=True)
    if "speed" in chosen.parts and not any(one["part"] == "speed" for one in read_results(folder)):
        for result in speed(chosen.nanogpt, chosen.train, folder, chosen.steps):
            append_result(folder, result)
    for seed in chosen.seeds if "curve" in chosen.parts or "ablation" in chosen.parts else ():
        done = {one["way"]: one for one in read_results(folder) if one["part"] == "curve" and one["seed"] == seed}
        if "nanoGPT" not in done:
            done["nanoGPT"] = train_nanogpt(chosen.nanogpt, chosen.train, chosen.valid, seed)
            append_result(folder, done["nanoGPT"])
        half = done["nanoGPT"]["seconds"] / 2
        if "Pellucid fast" not in done:
            append_result(
                folder, {"part": "curve", **train_pellucid(chosen.train, chosen.valid, folder, half, seed, {})}
            )
        made = {one["changed"] for one in read_results(folder) if one["part"] == "ablation" and one["seed"] == seed}
        for name, changed in ABLATION.items() if "ablation" in chosen.parts else ():
            if name not in made:
                found = train_pellucid(chosen.train, chosen.valid, folder, half, seed, changed)
                append_result(folder, {"part": "ablation", "changed": name, **found})
    print_tables(read_results(folder))


if __name__ == "__main__":
    main()

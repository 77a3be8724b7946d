"""How fast an encoder–decoder trains on one core, beside peers, in one run.

    python benchmarks/training.py [--steps 7] [--contenders pellucid-bfloat16 marian-bfloat16 …]

All contenders train the same sizes (3+3 layers, d_model 256, d_ff 1024, vocabulary 8,000, dropout 0.1, label
smoothing 0.1, AdamW) on the same synthetic ids: lengths are log-normal with a median of 17, ids follow Zipf's law. A
batch has at most 4,096 tokens of the longer side. They take turns, one step each, pinned to one core, and are measured
in CPU time. Rates are target tokens per second, without padding; the share of peak is relative to a large bfloat16
matrix product on this core, at 6 operations per parameter and token. Pellucid's step consists of the parts that
`training/loop.py` uses, without guidance, averaging, reading and validation.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.models.initialise import init_weights
from pellucid.training.batches import PairBatch, pair_batch, plan_epoch
from pellucid.training.config import TranslatorTrainingConfig
from pellucid.training.loss import cross_entropy
from pellucid.training.optimizer import adamw
from pellucid.training.precision import autocast

VOCABULARY, BATCH_TOKENS, SMOOTHING = 8000, 4096, 0.1
PAD, START, END = 0, 1, 2
CPU = torch.device("cpu")


class Contender(NamedTuple):
    """A model with its way to train: `step` makes one update."""

    name: str
    parameters: list[nn.Parameter]
    step: Callable[[PairBatch], None]


def batches(count: int, bucketed: bool) -> Iterator[PairBatch]:
    """Yield synthetic batches: of similar length, or in random order with as many pairs each."""
    random = numpy.random.default_rng(0)
    pairs = 20_000
    source_lengths = numpy.clip(random.lognormal(numpy.log(17), 0.5, pairs).round(), 5, 40).astype(int)
    target_lengths = numpy.clip((source_lengths * random.normal(1.03, 0.12, pairs)).round(), 5, 40).astype(int)
    frequency = 1 / numpy.arange(1, VOCABULARY - 2)
    frequency /= frequency.sum()

    def sentence(length: int) -> numpy.ndarray:
        words = random.choice(VOCABULARY - 3, length, p=frequency) + 3
        return numpy.array([*words, END], numpy.int32)

    if bucketed:
        plan = plan_epoch(source_lengths + 1, target_lengths + 1, BATCH_TOKENS, 1, 0)
    else:
        plan = numpy.array_split(random.permutation(pairs), pairs * 41 // BATCH_TOKENS)
    for chosen in plan[:count]:
        source = [sentence(source_lengths[i]) for i in chosen]
        target = [sentence(target_lengths[i]) for i in chosen]
        yield pair_batch(source, target, chosen, START, PAD, CPU)


def build_pellucid(dtype: torch.dtype) -> Contender:
    """Build this project's model and step."""
    config = EncoderDecoderConfig(decoder_layers=3, positions="sinusoidal", cross_positions="none", dropout=0.1)
    model = EncoderDecoder(config, VOCABULARY, VOCABULARY, PAD)
    init_weights(model, 1, 1.0)
    optimizer = adamw(model, TranslatorTrainingConfig())

    def step(batch: PairBatch) -> None:
        with autocast(dtype, CPU):
            states = model.decode(batch.target_in, model.encode(batch.source))
        predicted = batch.target_out != PAD
        loss, _ = cross_entropy(
            states[predicted], model.output_embedding.weight, batch.target_out[predicted], SMOOTHING, dtype
        )
        (loss / batch.target_tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad()

    return Contender("pellucid", list(model.parameters()), step)


def build_marian(dtype: torch.dtype) -> Contender:
    """Build Hugging Face's Marian model in a plain loop with fused AdamW."""
    from transformers import MarianConfig, MarianMTModel

    shape = {"d_model": 256, "encoder_layers": 3, "decoder_layers": 3}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    widths = {"encoder_ffn_dim": 1024, "decoder_ffn_dim": 1024}
    ids = {"pad_token_id": PAD, "eos_token_id": END, "decoder_start_token_id": START, "forced_eos_token_id": END}
    config = MarianConfig(
        vocab_size=VOCABULARY, dropout=0.1, max_position_embeddings=256, scale_embedding=True, **shape, **heads,
        **widths, **ids,
    )  # fmt: skip
    model = MarianMTModel(config).train()

    def logits(batch: PairBatch) -> Tensor:
        mask = (batch.source != PAD).long()
        return model(input_ids=batch.source, attention_mask=mask, decoder_input_ids=batch.target_in).logits

    return _plain_loop("Hugging Face Marian", model, logits, dtype)


def build_torch(dtype: torch.dtype) -> Contender:
    """Build `nn.Transformer` in a plain loop."""
    embedding = nn.Embedding(VOCABULARY, 256)
    body = nn.Transformer(256, 4, 3, 3, 1024, 0.1, batch_first=True, norm_first=True)
    model = nn.ModuleDict({"embedding": embedding, "body": body})

    def logits(batch: PairBatch) -> Tensor:
        length = batch.target_in.shape[1]
        states = body(
            embedding(batch.source) * 16,
            embedding(batch.target_in) * 16,
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=batch.source == PAD,
            tgt_key_padding_mask=batch.target_in == PAD,
            memory_key_padding_mask=batch.source == PAD,
            tgt_is_causal=True,
        )
        return F.linear(states, embedding.weight)

    return _plain_loop("nn.Transformer", model, logits, dtype)


def _plain_loop(name: str, model: nn.Module, logits: Callable[[PairBatch], Tensor], dtype: torch.dtype) -> Contender:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)

    def step(batch: PairBatch) -> None:
        with autocast(dtype, CPU):
            scores = logits(batch)
        loss = F.cross_entropy(
            scores.flatten(0, 1).float(), batch.target_out.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING
        )
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return Contender(name, list(model.parameters()), step)


def peak_rate() -> float:
    """Measure a large bfloat16 matrix product on this core, operations per second."""
    size = 1024
    x, y = torch.randn(size, size).bfloat16(), torch.randn(size, size).bfloat16()
    rates = []
    for _ in range(12):
        began = time.process_time()
        x @ y
        rates.append(2 * size**3 / (time.process_time() - began))
    return statistics.median(rates)


CONTENDERS: dict[str, tuple[Callable[[torch.dtype], Contender], torch.dtype, bool]] = {
    "pellucid-bfloat16": (build_pellucid, torch.bfloat16, True),
    "pellucid-float32": (build_pellucid, torch.float32, True),
    "marian-bfloat16": (build_marian, torch.bfloat16, True),
    "marian-float32": (build_marian, torch.float32, True),
    "nn.Transformer-float32": (build_torch, torch.float32, True),
    "nn.Transformer-float32-random-order": (build_torch, torch.float32, False),
}


def main() -> None:
    """Run the contenders in turn, and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=7, help="measured steps of each, after two of warm-up")
    options.add_argument("--contenders", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    options.add_argument("--core", type=int, default=0, help="core to run on")
    chosen = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {chosen.core})
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = {bucketed: list(batches(chosen.steps + 2, bucketed)) for bucketed in (True, False)}
    running = {name: CONTENDERS[name][0](CONTENDERS[name][1]) for name in chosen.contenders}
    rates: dict[str, list[float]] = {name: [] for name in running}
    peaks = []
    for number in range(chosen.steps + 2):
        peaks.append(peak_rate())
        for name, contender in running.items():
            batch = data[CONTENDERS[name][2]][number]
            began = time.process_time()
            contender.step(batch)
            if number >= 2:
                rates[name].append(batch.target_tokens / (time.process_time() - began))
    peak = statistics.median(peaks)
    ours = statistics.median(rates[chosen.contenders[0]])
    print(f"bfloat16 matrix product: {peak / 1e9:.0f} GFLOP/s on this core; {chosen.steps} steps each, synthetic ids")
    print("| contender | parameters | target tokens/s | share of bfloat16 peak | against the first |")
    print("|---|---|---|---|---|")
    for name, contender in running.items():
        size = sum({id(p): p.numel() for p in contender.parameters}.values())
        rate = statistics.median(rates[name])
        share = 6 * size * rate / peak
        print(f"| {name} | {size / 1e6:.2f} M | {rate:,.0f} | {share:.0%} | {rate / ours:.2f}× |")


if __name__ == "__main__":
    main()

"""Time attention forward and backward: plain products against PyTorch's fused kernel, one thread.

Run as `python benchmarks/attention.py`. The setting is a training batch of 640 tokens: 32 sentences of 20, 4 heads of
64, causal. Milliseconds of processor time, the best of five rounds, so that a busy machine matters little.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.layers.attention import _attend_fused, attend
from pellucid.layers.masks import causal

BATCH, HEADS, LENGTH, D_HEAD = 32, 4, 20, 64
Look = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def milliseconds(look: Look, dtype: torch.dtype, times: int = 30, rounds: int = 5) -> float:
    """Return the processor time of one forward and backward pass."""
    parts = [torch.randn(BATCH, HEADS, LENGTH, D_HEAD, dtype=dtype, requires_grad=True) for _ in range(3)]
    query, key, value = parts
    may_attend = causal(LENGTH)
    best = float("inf")
    for _ in range(rounds + 1):  # one round to warm up
        start = time.process_time()
        for _ in range(times):
            look(query, key, value, may_attend).sum().backward()
        best = min(best, (time.process_time() - start) / times * 1e3)
    return best


def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)
    ways: dict[str, Look] = {
        "plain products": attend,
        "fused": lambda query, key, value, may_attend: _attend_fused(query, key, value, may_attend, None, 0.0),
    }
    print(f"{'':15} float32  bfloat16  (ms forward and backward)")
    for name, look in ways.items():
        print(f"{name:15} {milliseconds(look, torch.float32):7.2f}  {milliseconds(look, torch.bfloat16):8.2f}")


if __name__ == "__main__":
    main()

"""How large a model is, and how much memory the machine has free, or a container leaves of it."""

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import torch

from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

__all__ = ["free_bytes", "language_model_parameter_count", "parameter_count"]

MEMINFO = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
GROUP_FILES = Path("/sys/fs/cgroup")
UNKNOWN = 4e9  # bytes, of a system that does not tell


class _Names(NamedTuple):
    """What a control group's files of memory are called, and what its `stat` calls file pages that can make way."""

    limit: str
    used: str
    idle: str


_SECOND = _Names("memory.max", "memory.current", "inactive_file")
_FIRST = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def parameter_count(config: EncoderDecoderConfig, source_vocab_size: int, target_vocab_size: int) -> int:
    """Return how many parameters a model has, without building it: sizes may be absurd."""
    d, b = config.d_model, int(config.bias)
    kv = config.kv_heads * config.d_head
    attention = 2 * (d * d + b * d) + 2 * (d * kv + b * kv)
    widening = 2 if config.activation == "swiglu" else 1
    feed_forward = (widening + 1) * d * config.d_ff + b * (widening * config.d_ff + d)
    norm = 2 * d if config.norm == "layernorm" else d
    encoder = config.encoder_layers * (attention + feed_forward + 2 * norm)
    decoder = config.decoder_layers * (2 * attention + feed_forward + 3 * norm)
    last_norms = 2 * norm if config.norm_placement == "pre" else 0
    codes = 2 * config.max_positions * d if config.positions == "learned" else 0
    rows = {
        "all": target_vocab_size,
        "output": source_vocab_size + target_vocab_size,
        "none": source_vocab_size + 2 * target_vocab_size,
    }[config.tie_embeddings]
    return encoder + decoder + last_norms + codes + rows * d


def language_model_parameter_count(config: DecoderOnlyConfig, vocab_size: int) -> int:
    """Return how many parameters a language model has, without building it: sizes may be absurd."""
    d, width, kv = config.d_model, config.n_heads * config.head_width, config.kv_heads * config.head_width
    b, qkv_b = int(config.bias), int(config.projection_bias)
    attention = 2 * d * width + 2 * d * kv + qkv_b * (width + 2 * kv) + b * d
    head_norms = 2 * config.head_width if config.qk_norm else 0
    widening = 2 if config.activation == "swiglu" else 1
    feed_forward = (widening + 1) * d * config.d_ff + b * (widening * config.d_ff + d)
    norm = 2 * d if config.norm == "layernorm" else d
    blocks = config.n_layers * (attention + head_norms + feed_forward + 2 * norm)
    last_norm = norm if config.norm_placement == "pre" else 0
    codes = config.max_positions * d if config.positions == "learned" else 0
    return blocks + last_norm + codes + (1 if config.tie_embeddings else 2) * vocab_size * d


def free_bytes(device: torch.device) -> float:
    """Return how many bytes a process can still have on a device, without swapping and within its container.

    Source:
        Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst, for control groups of memory.
    """
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    return min(_free_in_machine(), *(_left_in_group(folder, names) for folder, names in _groups()), math.inf)


def _free_in_machine() -> float:
    # On Linux, what can be had without swapping: files that the system keeps in idle memory make way.
    if found := re.search(r"^MemAvailable: +(\d+) kB$", _read(MEMINFO), re.MULTILINE):
        return 1024.0 * int(found[1])
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return UNKNOWN


def _groups() -> Iterator[tuple[Path, _Names]]:
    """Yield the folders of the control groups that this process is in, each with those above it, which bind it too.

    A container often sees its own group at the top, and under the path only the host knows nothing.
    """
    for number, controllers, path in re.findall(r"^(\d+):(.*?):(.*)$", _read(GROUPS), re.MULTILINE):
        if number == "0" and not controllers:
            tops, names = [GROUP_FILES, GROUP_FILES / "unified"], _SECOND
        elif "memory" in controllers.split(","):
            tops, names = [GROUP_FILES / "memory"], _FIRST
        else:
            continue
        inside = PurePosixPath(path.lstrip("/"))
        for top in tops:
            yield from ((top / part, names) for part in (inside, *inside.parents))


def _left_in_group(folder: Path, names: _Names) -> float:
    """Return what a group's limit leaves, bytes; infinite where it has none."""
    limit, used = _read(folder / names.limit).strip(), _read(folder / names.used).strip()
    if not (limit.isdecimal() and used.isdecimal()):  # "max", or nothing there
        return math.inf
    idle = re.search(rf"^{names.idle} (\d+)$", _read(folder / "memory.stat"), re.MULTILINE)
    return max(0.0, float(int(limit) - int(used) + (int(idle[1]) if idle else 0)))


def _read(path: Path) -> str:
    """Return a file that the system makes; nothing where it makes none, or lets nobody read it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

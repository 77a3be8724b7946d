"""How much memory is free: on a GPU, or in the machine and within the limits of a container."""

import math
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import psutil
import torch

__all__ = ["free_bytes"]

GROUPS = Path("/proc/self/cgroup")
GROUP_FILES = Path("/sys/fs/cgroup")


class _Names(NamedTuple):
    """Names of a control group's memory files, and of the reclaimable file pages in its `stat`."""

    limit: str
    used: str
    reclaimable: str


_V1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names("memory.max", "memory.current", "inactive_file")


def free_bytes(device: torch.device) -> float:
    """Determine how many bytes this process can still allocate on a device, without swapping.

    psutil knows the machine; the limits of a container are read from its control groups.

    Source:
        Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
    """
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    in_groups = [_free_in_group(folder, names) for folder, names in _groups()]
    return min(float(psutil.virtual_memory().available), *in_groups, math.inf)


def _groups() -> Iterator[tuple[Path, _Names]]:
    """Yield the control groups of this process and all groups above them, whose limits apply too.

    In a container, its own group is often the root, and the path that the host knows does not exist.
    """
    for number, controllers, path in re.findall(r"^(\d+):(.*?):(.*)$", _read(GROUPS), re.MULTILINE):
        if number == "0" and not controllers:
            roots, names = [GROUP_FILES, GROUP_FILES / "unified"], _V2
        elif "memory" in controllers.split(","):
            roots, names = [GROUP_FILES / "memory"], _V1
        else:
            continue
        group = PurePosixPath(path.lstrip("/"))
        for root in roots:
            yield from ((root / part, names) for part in (group, *group.parents))


def _free_in_group(folder: Path, names: _Names) -> float:
    """Determine what the limit of a group leaves, in bytes; infinite without a limit."""
    limit, used = _read(folder / names.limit).strip(), _read(folder / names.used).strip()
    if not (limit.isdecimal() and used.isdecimal()):  # "max", or no such file
        return math.inf
    reclaimable = re.search(rf"^{names.reclaimable} (\d+)$", _read(folder / "memory.stat"), re.MULTILINE)
    return max(0.0, float(int(limit) - int(used) + (int(reclaimable[1]) if reclaimable else 0)))


def _read(path: Path) -> str:
    """Read a file of the kernel; empty if it does not exist or is not readable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

import sys
from types import SimpleNamespace

import pytest

from pellucid.cli.flags import Flags
from pellucid.errors import UsageError


def test_threads_hold_for_what_is_loaded_already(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    asked: dict[str, int] = {}
    torch = SimpleNamespace(set_num_threads=lambda n: asked.update(torch=n))
    monkeypatch.setitem(sys.modules, "torch", torch)
    Flags(threads=3).apply()
    assert asked == {"torch": 3}


def test_more_threads_than_a_system_gives_are_refused() -> None:
    with pytest.raises(UsageError, match="at most"):
        Flags(threads=100_000).apply()

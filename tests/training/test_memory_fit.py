import pytest
import torch

from pellucid.models.decoder_only_config import DecoderOnlyConfig
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.training import memory_fit
from pellucid.training.memory_fit import LADDER, fit_micro_batch

CPU = torch.device("cpu")


@pytest.mark.parametrize(("free", "expected"), [(1e12, 50_000), (2e9, 2048), (1e6, LADDER[0])])
def test_a_batch_that_does_not_fit_is_taken_in_rungs(
    monkeypatch: pytest.MonkeyPatch, free: float, expected: int
) -> None:
    monkeypatch.setattr(memory_fit, "free_bytes", lambda device: free)
    config = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024)
    assert fit_micro_batch(config, 50_000, 256, torch.bfloat16, CPU) == expected


def test_processes_share_the_memory_and_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024)
    monkeypatch.setattr(memory_fit, "free_bytes", lambda device: 2e9)
    assert fit_micro_batch(config, 12_000, 256, torch.bfloat16, CPU) == 2048
    # A quarter of the small batch fits into a quarter of the memory; of the large one, a smaller micro-batch does.
    assert fit_micro_batch(config, 2_000, 256, torch.bfloat16, CPU, 4) == 2_000
    assert fit_micro_batch(config, 12_000, 256, torch.bfloat16, CPU, 4) == 512


def test_small_changes_of_free_memory_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024)
    fitted = set()
    for free in (4.0e9, 4.1e9, 4.2e9):
        monkeypatch.setattr(memory_fit, "free_bytes", lambda device, free=free: free)
        fitted.add(fit_micro_batch(config, 50_000, 256, torch.bfloat16, CPU))
    assert len(fitted) == 1


def test_a_language_model_of_the_same_sizes_takes_less_than_a_translator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the blocks, and no cross-attention."""
    monkeypatch.setattr(memory_fit, "free_bytes", lambda device: 2e9)
    translator = EncoderDecoderConfig(d_model=256, n_heads=4, d_ff=1024, encoder_layers=4, decoder_layers=4)
    language_model = DecoderOnlyConfig(d_model=256, n_heads=4, d_ff=1024, n_layers=4)
    one, other = (fit_micro_batch(shape, 50_000, 256, torch.bfloat16, CPU) for shape in (translator, language_model))
    assert one < other

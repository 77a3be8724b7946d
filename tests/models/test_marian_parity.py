"""The same logits as Hugging Face's MarianMTModel with the same random weights, in the configuration both have.

Post-norm, sinusoidal positions, ReLU, one scaled embedding matrix for source, target and output. Marian's sinusoids
hold all sines, then all cosines; ours alternate as in the paper, so that every weight is permuted along d_model.
"""

import warnings

import pytest
import torch
from torch import Tensor

from pellucid.layers.positions import sinusoids
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of another library's imports
    from transformers import MarianConfig, MarianMTModel

VOCAB_SIZE, D_MODEL, D_FF, HEADS, LAYERS = 19, 32, 48, 4, 2
SOURCE = torch.tensor([[3, 4, 5, 6, 7, 8], [9, 10, 11, 1, 0, 0], [12, 1, 0, 0, 0, 0]])
TARGET = torch.tensor([[2, 13, 14, 15, 16], [2, 17, 18, 3, 0], [2, 4, 0, 0, 0]])
ALTERNATE = torch.arange(D_MODEL).view(2, D_MODEL // 2).T.flatten()  # 0, 16, 1, 17, …


@pytest.fixture(scope="module")
def marian() -> MarianMTModel:
    config = MarianConfig(
        vocab_size=VOCAB_SIZE,
        d_model=D_MODEL,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=D_FF,
        decoder_ffn_dim=D_FF,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=32,
        pad_token_id=0,
        eos_token_id=1,
        forced_eos_token_id=1,
        decoder_start_token_id=2,
    )
    model: MarianMTModel = MarianMTModel(config)
    model.train(False)
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.normal_(std=0.2, generator=random)
    return model


@pytest.fixture(scope="module")
def ours(marian: MarianMTModel) -> EncoderDecoder:
    config = EncoderDecoderConfig(
        d_model=D_MODEL,
        n_heads=HEADS,
        d_ff=D_FF,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        positions="sinusoidal",
        cross_positions="none",
        norm_placement="post",
    )
    model = EncoderDecoder(config, VOCAB_SIZE, VOCAB_SIZE, pad_id=0).eval()
    theirs = marian.state_dict()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(permuted(name, theirs[their_name(name)]))
    return model


NAMES = {
    "target_embedding.": "shared.",
    "encoder.": "encoder.layers.",
    "decoder.": "decoder.layers.",
    "self_attention_residual.norm.": "self_attn_layer_norm.",
    "cross_attention_residual.norm.": "encoder_attn_layer_norm.",
    "feed_forward_residual.norm.": "final_layer_norm.",
    "self_attention.": "self_attn.",
    "cross_attention.": "encoder_attn.",
    "query.": "q_proj.",
    "key.": "k_proj.",
    "value.": "v_proj.",
    "output.": "out_proj.",
    "feed_forward.up_projection.": "fc1.",
    "feed_forward.down_projection.": "fc2.",
}


def their_name(name: str) -> str:
    for mine, theirs in NAMES.items():
        name = name.replace(mine, theirs)
    return f"model.{name}"


def permuted(name: str, weight: Tensor) -> Tensor:
    """Alternate the axes that are d_model of the residual stream: inputs, outputs, or the norm's own."""
    reads = ("query.weight", "key.weight", "value.weight", "up_projection.weight", "embedding.weight")
    writes = (
        "output.weight",
        "output.bias",
        "down_projection.weight",
        "down_projection.bias",
        "norm.weight",
        "norm.bias",
    )
    if name.endswith(reads):
        return weight[:, ALTERNATE]
    return weight[ALTERNATE] if name.endswith(writes) else weight


def test_position_codes_are_theirs_in_another_order(marian: MarianMTModel) -> None:
    theirs = marian.model.encoder.embed_positions.weight[:32, ALTERNATE]
    torch.testing.assert_close(sinusoids(torch.arange(32), D_MODEL).float(), theirs, atol=1e-6, rtol=0)


@torch.inference_mode()
def test_logits_are_theirs_with_padding(marian: MarianMTModel, ours: EncoderDecoder) -> None:
    theirs = marian(input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET).logits
    logits = ours(SOURCE, TARGET)
    real = TARGET != 0
    assert theirs[real].std() > 0.2  # logits that say something
    # Float32 rounding through four blocks of sums of 32 to 48 products, in another order.
    torch.testing.assert_close(logits[real], theirs[real], atol=2e-5, rtol=1e-5)


@torch.inference_mode()
def test_encoder_states_are_theirs(marian: MarianMTModel, ours: EncoderDecoder) -> None:
    theirs = marian.model.encoder(input_ids=SOURCE, attention_mask=(SOURCE != 0).long()).last_hidden_state
    real = SOURCE != 0
    torch.testing.assert_close(ours.encode(SOURCE).states[real], theirs[real][:, ALTERNATE], atol=2e-5, rtol=1e-5)


def test_their_loss_has_the_gradient_of_ours(marian: MarianMTModel, ours: EncoderDecoder) -> None:
    """The gradient of the mean log-likelihood reaches every weight alike."""
    labels = torch.tensor([[13, 14, 15, 16, 1], [17, 18, 3, 1, 0], [4, 1, 0, 0, 0]])
    ignored = labels.masked_fill(labels == 0, -100)
    marian.zero_grad()
    ours.zero_grad()
    marian(
        input_ids=SOURCE, attention_mask=(SOURCE != 0).long(), decoder_input_ids=TARGET, labels=ignored
    ).loss.backward()
    torch.nn.functional.cross_entropy(ours(SOURCE, TARGET).flatten(0, 1), ignored.flatten()).backward()
    theirs = dict(marian.named_parameters())
    for name, weight in ours.named_parameters():
        expected = theirs[their_name(name)].grad
        assert expected is not None
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad, permuted(name, expected), atol=1e-5, rtol=1e-4, msg=name)

"""Compile a language model to the ops of a program. Choices of the configuration are resolved here, once."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pellucid.generation.compiled import kernel
from pellucid.generation.compiled.instructions import GELU, GELU_TANH, RELU
from pellucid.generation.compiled.packing import ROWS, PackedMatrix, Precision, pack, round_up
from pellucid.kernels.simd import LANES, aligned_zeros
from pellucid.layers.attention import Attention
from pellucid.layers.block import PostNorm, Residual, SelfAttentionBlock
from pellucid.layers.feed_forward import FeedForward, GatedFeedForward
from pellucid.layers.norms import RMSNorm
from pellucid.layers.positions import AlibiBias, Rotary, sinusoids
from pellucid.models.decoder_only import DecoderOnly

__all__ = ["ArenaRows", "Program", "compile_model"]

OPERANDS = 13
_ACTIVATIONS: dict[tuple[type[nn.Module], str], int] = {
    (nn.ReLU, "none"): RELU,
    (nn.GELU, "tanh"): GELU_TANH,
    (nn.GELU, "none"): GELU,
}


class ArenaRows(NamedTuple):
    """Rows of the arena, one per token: start of the first and length of each, in numbers."""

    place: int
    length: int


class Program(NamedTuple):
    """The ops that the kernel runs, and their data.

    Attributes:
        ops: opcode and operands, int64 [ops operands].
        scalars: a float32 parameter of each op, such as an epsilon, [ops].
        arena: float32: vectors of weights, and rows for the tokens being processed.
        matrices: kept alive, because ops contain their addresses.
        logits: rows of the logits in the arena.
        cache_shape: blocks, 2, kv_heads, and length of a key; the room for tokens is not among them.
        table: computes what ops need by position, for this many positions, [positions …].
        context: maximum length of a text, tokens.
        tokens: how many are processed at once, at most.
    """

    ops: NDArray[numpy.int64]
    scalars: NDArray[numpy.float32]
    arena: NDArray[numpy.float32]
    matrices: Sequence[PackedMatrix]
    logits: ArenaRows
    cache_shape: tuple[int, int, int, int]
    table: Callable[[int], NDArray[numpy.float32]]
    vocab_size: int
    context: int
    tokens: int

    @property
    def weight_bytes(self) -> int:
        """Bytes of the matrices, including scales."""
        return sum(matrix.weights.nbytes + matrix.scales.nbytes for matrix in self.matrices)


def compile_model(model: DecoderOnly, precision: Precision = "int8", tokens: int = 32) -> Program:
    """Compile a model to a program.

    Args:
        model: on the CPU; not needed afterwards.
        precision: of the matrices, float32, bfloat16, or int8 with a scale for 64 numbers of a row; all
            arithmetic is in float32.
        tokens: how many are processed at once, at most.
    """
    with torch.no_grad():
        return _Writer(model, precision, tokens).written()


class _Writer:
    """Emits the ops of the forward pass of `DecoderOnly`, in its order."""

    def __init__(self, model: DecoderOnly, precision: Precision, tokens: int) -> None:
        self.model = model
        self.precision: Precision = precision
        self.tokens = tokens
        self.ops: list[tuple[int, ...]] = []
        self.scalars: list[float] = []
        self.matrices: list[PackedMatrix] = []
        self.size = 0
        self.learned: list[tuple[int, NDArray[numpy.float32]]] = []
        config = model.config
        width = round_up(config.d_model, LANES)
        self.head = round_up(config.head_width, LANES)
        projected, hidden = (config.n_heads + 2 * config.kv_heads) * self.head, 2 * round_up(config.d_ff, LANES)
        self.zeros = self.reserve(max(width, projected, hidden, model.vocab_size))
        self.stream = self.rows(width)
        self.normed = self.rows(width)
        self.projected = self.rows(projected)
        self.head_output = self.rows(config.n_heads * self.head)
        self.hidden = self.rows(hidden)
        self.logits = self.rows(round_up(model.vocab_size, LANES))

    def written(self) -> Program:
        model, config = self.model, self.model.config
        embedding = self.packed(model.embedding.weight)
        tied = model.output_embedding is model.embedding
        output = embedding if tied else self.packed(model.output_embedding.weight)
        scales, address, chunks = self.learn(embedding.scales.ravel()), embedding.weights.ctypes.data, embedding.chunks
        self.add((kernel.EMBED, embedding.kind, address, chunks, scales, *self.stream), model.embedding.scale)
        if model.position_encoding.kind != "none":
            self.add((kernel.ADD_ENCODING, *self.stream))
        for number, block in enumerate(model.blocks()):
            self.block(number, block)
        last = self.stream
        if not isinstance(model.decoder_norm, nn.Identity):
            last = self.normed
            self.norm(model.decoder_norm, self.stream, last)
        self.multiply(output, None, last, None, self.logits, kernel.MATMUL_LAST)
        ops = numpy.zeros((len(self.ops), OPERANDS), numpy.int64)
        for row, op in zip(ops, self.ops, strict=True):
            row[: len(op)] = op
        arena = aligned_zeros(self.size)
        for place, values in self.learned:
            arena[place : place + len(values)] = values
        shape = (config.n_layers, 2, config.kv_heads, self.head)
        scalars = numpy.array(self.scalars, numpy.float32)
        return Program(
            ops,
            scalars,
            arena,
            self.matrices,
            self.logits,
            shape,
            _position_table(model),
            model.vocab_size,
            config.max_positions,
            self.tokens,
        )

    def block(self, number: int, block: SelfAttentionBlock) -> None:
        self.around(block.self_attention_residual, lambda x: self.attention(number, block.self_attention, x))
        self.around(block.feed_forward_residual, lambda x: self.feed_forward(block.feed_forward, x))

    def around(self, residual: Residual, part: Callable[[ArenaRows], None]) -> None:
        if isinstance(residual, PostNorm):
            part(self.stream)
            self.norm(residual.norm, self.stream, self.stream)
        else:
            self.norm(residual.norm, self.stream, self.normed)
            part(self.normed)

    def attention(self, number: int, attention: Attention, x: ArenaRows) -> None:
        heads, kv_heads, rows = attention.n_heads, attention.n_kv_heads, self.projected
        parts = (attention.query, heads), (attention.key, kv_heads), (attention.value, kv_heads)
        weight = torch.cat([self.head_rows(part.weight, count) for part, count in parts])
        bias = torch.cat([self.head_rows(_bias(part)[:, None], count) for part, count in parts])[:, 0]
        self.multiply(self.packed(weight), bias, x, None, rows)
        key, value = rows.place + heads * self.head, rows.place + (heads + kv_heads) * self.head
        if isinstance(attention.query_norm, RMSNorm) and isinstance(attention.key_norm, RMSNorm):
            keys = ArenaRows(key, rows.length)
            self.norm(attention.query_norm, rows, rows, heads)
            self.norm(attention.key_norm, keys, keys, kv_heads)
        slopes = self.zeros
        scheme = self.model.config.positions
        match scheme:
            case "rope":
                self.add((kernel.ROTATE, *rows, heads + kv_heads, self.head))
            case "alibi":
                assert isinstance(attention.positions, AlibiBias)
                slopes = self.learn_vector(attention.positions.slopes)
            case "sinusoidal" | "learned" | "none":  # added to the embeddings, if at all
                pass
            case _:
                assert_never(scheme)
        self.add((kernel.APPEND, number, key, value, rows.length))
        scale = attention.d_head**-0.5
        self.add((kernel.ATTEND, number, heads, *rows, slopes, *self.head_output), scale)
        output = self.head_rows(attention.output.weight.T, heads).T
        self.multiply(self.packed(output), _bias(attention.output), self.head_output, self.stream, self.stream)

    def feed_forward(self, part: nn.Module, x: ArenaRows) -> None:
        chunks = round_up(self.model.config.d_ff, LANES) // LANES
        if isinstance(part, GatedFeedForward):
            wide = [_pad_rows(linear.weight, LANES) for linear in (part.gate_projection, part.up_projection)]
            bias = [
                _pad_rows(_bias(linear)[:, None], LANES)[:, 0] for linear in (part.gate_projection, part.up_projection)
            ]
            self.multiply(self.packed(torch.cat(wide)), torch.cat(bias), x, None, self.hidden)
            self.add((kernel.GATE, *self.hidden, chunks))
        else:
            assert isinstance(part, FeedForward)
            self.multiply(self.packed(part.up_projection.weight), _bias(part.up_projection), x, None, self.hidden)
            how = _ACTIVATIONS[type(part.activation), getattr(part.activation, "approximate", "none")]
            self.add((kernel.ACTIVATE, *self.hidden, chunks, how))
        down_projection = part.down_projection
        self.multiply(
            self.packed(down_projection.weight), _bias(down_projection), self.hidden, self.stream, self.stream
        )

    def norm(self, norm: object, x: ArenaRows, out: ArenaRows, heads: int = 1) -> None:
        """Emit the norm of each token's row, or of the part of each head in it."""
        assert isinstance(norm, RMSNorm | nn.LayerNorm)
        weight, shape = self.learn_vector(norm.weight), (*x, heads, self.head, len(norm.weight))
        if isinstance(norm, RMSNorm):
            self.add((kernel.RMS_NORM, *shape, weight, self.zeros, *out), norm.epsilon)
        else:
            self.add((kernel.LAYER_NORM, *shape, weight, self.learn_vector(norm.bias), *out), norm.eps)

    def multiply(
        self,
        matrix: PackedMatrix,
        bias: Tensor | None,
        x: ArenaRows,
        base: ArenaRows | None,
        out: ArenaRows,
        operation: int = kernel.MATMUL,
    ) -> None:
        """Emit out = base + matrix · x + bias; without a base, it is zero."""
        shift = self.zeros if bias is None else self.learn(_pad_rows(bias[:, None], ROWS)[:, 0].numpy())
        scales = self.learn(matrix.scales.ravel())
        own = matrix.kind, matrix.weights.ctypes.data, matrix.groups, matrix.chunks, scales, shift
        self.add((operation, *own, *x, *(base or ArenaRows(self.zeros, 0)), *out))

    def add(self, op: tuple[int, ...], scalar: float = 0.0) -> None:
        self.ops.append(op)
        self.scalars.append(scalar)

    def packed(self, weight: Tensor) -> PackedMatrix:
        matrix = pack(weight.detach().float(), self.precision)
        self.matrices.append(matrix)
        return matrix

    def learn(self, values: NDArray[numpy.float32]) -> int:
        place = self.reserve(len(values))
        self.learned.append((place, values))
        return place

    def learn_vector(self, values: Tensor) -> int:
        return self.learn(values.detach().float().numpy())

    def rows(self, length: int) -> ArenaRows:
        return ArenaRows(self.reserve(length * self.tokens), length)

    def reserve(self, size: int) -> int:
        place = self.size
        self.size += round_up(size, LANES)
        return place

    def head_rows(self, weight: Tensor, heads: int) -> Tensor:
        """Pad each head's rows of a matrix with zeros to the length of a key."""
        return torch.cat([_pad_rows(rows, LANES) for rows in weight.chunk(heads)])


def _pad_rows(weight: Tensor, multiple: int) -> Tensor:
    return nn.functional.pad(weight, (0, 0, 0, round_up(len(weight), multiple) - len(weight)))


def _bias(linear: nn.Linear) -> Tensor:
    bias = torch.zeros(linear.out_features)
    if linear.bias is not None:
        bias = linear.bias.detach().float()
    return bias


def _position_table(model: DecoderOnly) -> Callable[[int], NDArray[numpy.float32]]:
    """Choose what computes the numbers that ops need by position: cosines and sines, or encodings."""

    def table(count: int) -> NDArray[numpy.float32]:
        scheme = model.config.positions
        match scheme:
            case "rope":
                positions = next(model.blocks()).self_attention.positions
                assert isinstance(positions, Rotary)
                angles = torch.arange(count)[:, None].double() * positions.frequencies
                values = torch.cat((angles.cos(), angles.sin()), dim=1)
            case "sinusoidal":
                values = sinusoids(torch.arange(count), model.config.d_model)
            case "learned":
                (weight,) = model.position_encoding.parameters()
                values = weight.detach()[torch.arange(count).clamp(max=len(weight) - 1)]
            case "alibi" | "none":
                values = torch.zeros(count, 0)
            case _:
                assert_never(scheme)
        return values.float().contiguous().numpy()

    return table

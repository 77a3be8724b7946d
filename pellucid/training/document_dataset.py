"""Documents as ids on disk, memory-mapped so that they need not fit in memory.

Documents follow one another; each begins with the start token, which no text can produce, and ends with the end token.
Ids that are given rather than learnt (a prompt) are stored as their complement, `~id`, which is negative.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.corpus.documents import Document
from pellucid.layers.masks import causal
from pellucid.storage.id_store import IdStore, IdStoreWriter
from pellucid.tokenizers.tokenizer import Tokenizer
from pellucid.training.packing import pack, split_into_chunks

__all__ = ["DocumentDataset", "TextBatch", "Windows", "WrittenDocuments", "write_documents"]

_SCAN_CHUNK = 1 << 22  # ids scanned at once

Integers = NDArray[numpy.int64]


class TextBatch(NamedTuple):
    """Windows of text as padded ids, on the device.

    Attributes:
        ids: what is read, [batch, seq].
        predicted: where what follows is to be predicted, counted row after row, [asked].
        targets: what follows there, [asked].
        may_attend: True where a token may attend to another: none after it, and none of another document,
            [#batch, 1, seq, seq].
        positions: position of each token in its document or chunk, [seq] for all rows or [batch, seq].
        tokens: input tokens, without padding.
    """

    ids: Tensor
    predicted: Tensor
    targets: Tensor
    may_attend: Tensor
    positions: Tensor
    tokens: int

    @property
    def target_tokens(self) -> int:
        """Tokens to predict."""
        return self.targets.numel()

    @property
    def padded_size(self) -> int:
        """Positions, padding included."""
        return self.ids.numel()


@dataclass(frozen=True)
class Windows:
    """An epoch's windows: chunks of documents, packed together.

    Attributes:
        starts, lengths: of the chunks.
        chunks: indices of the chunks in each window.
    """

    starts: Integers
    lengths: Integers
    chunks: list[Integers]


@dataclass(frozen=True)
class DocumentDataset:
    """Documents as ids.

    Args:
        folder: holds `documents`, an id store.
        context: length of a window, tokens.
        cross_documents: whether tokens may attend to earlier documents in their window.
    """

    folder: Path
    tokenizer: Tokenizer
    context: int
    cross_documents: bool = False
    seed: int = 0

    @cached_property
    def ids(self) -> NDArray[numpy.int32]:
        """All ids, memory-mapped."""
        return IdStore(self.folder / "documents").ids

    @cached_property
    def starts(self) -> Integers:
        """Where each document begins in the ids."""
        found = [
            first + numpy.flatnonzero(self.ids[first : first + _SCAN_CHUNK] == self.tokenizer.start_id)
            for first in range(0, len(self.ids), _SCAN_CHUNK)
        ]
        return numpy.concatenate([numpy.empty(0, numpy.int64), *found])

    @cached_property
    def lengths(self) -> Integers:
        """Tokens of each document, start and end included."""
        return numpy.diff(self.starts, append=len(self.ids))

    @property
    def cut_prompts(self) -> int:
        """Number of documents whose prompt is cut off: they exceed the context, so that a part is learnt without it."""
        long = self.starts[self.lengths - 1 > self.context]  # the last token is predicted, not read
        return int((self.ids[long + 1] < 0).sum())

    def windows(self, epoch: int) -> Windows:
        """Pack the windows of an epoch, a pure function of (seed, epoch)."""
        chunks = split_into_chunks(self.starts, self.lengths, self.context, self.seed, epoch)
        return Windows(*chunks, pack(chunks.lengths, self.context, self.seed, epoch))

    def batch(self, windows: Windows, numbers: Sequence[int], device: torch.device) -> TextBatch:
        """Load some windows, padded to the longest of them."""
        chosen = [windows.chunks[number] for number in numbers]
        longest = max(int(windows.lengths[chunks].sum()) for chunks in chosen)
        shape = (len(chosen), longest)
        ids = numpy.full(shape, self.tokenizer.pad_id, numpy.int64)
        targets = numpy.full(shape, -1, numpy.int64)
        positions, chunk_of = numpy.zeros(shape, numpy.int64), numpy.full(shape, -1, numpy.int64)
        tokens = 0
        for row, chunks in enumerate(chosen):
            at = 0
            for chunk in chunks.tolist():
                start, length = int(windows.starts[chunk]), int(windows.lengths[chunk])
                span = self.ids[start : start + length + 1]
                ids[row, at : at + length] = numpy.where(span[:-1] < 0, ~span[:-1], span[:-1])
                targets[row, at : at + length] = span[1:]
                positions[row, at : at + length] = numpy.arange(length)
                chunk_of[row, at : at + length] = chunk
                at += length
            tokens += at
        predicted = numpy.flatnonzero(targets >= 0)
        may_attend, where = causal(longest, device), torch.arange(longest, device=device)
        if not self.cross_documents and any(len(chunks) > 1 for chunks in chosen):
            chunk_ids = torch.from_numpy(chunk_of).to(device)
            may_attend = may_attend & (chunk_ids[:, None, :, None] == chunk_ids[:, None, None, :])
            where = torch.from_numpy(positions).to(device)
        return TextBatch(
            torch.from_numpy(ids).to(device),
            torch.from_numpy(predicted).to(device),
            torch.from_numpy(targets.ravel()[predicted]).to(device),
            may_attend,
            where,
            tokens,
        )


class WrittenDocuments(NamedTuple):
    """How much was written.

    Attributes:
        predicted: tokens to predict: neither given nor start tokens.
        bytes: of their text in UTF-8.
    """

    predicted: int
    bytes: int


def write_documents(documents: Iterable[Document], folder: Path, tokenizer: Tokenizer) -> WrittenDocuments:
    """Write the ids of documents.

    A prompt and its completion are tokenized separately, so that no piece spans both.
    """
    folder.mkdir()
    predicted = size = 0
    with IdStoreWriter(folder / "documents") as writer:
        for document in documents:
            given = tokenizer.encode(document.prompt) if document.prompt else []
            inside = bool(given) or not document.begins
            ids = tokenizer.encode_continuation(document.text) if inside else tokenizer.encode(document.text)
            learnt = [*ids, *[tokenizer.end_id] * document.ends]
            writer.append([*[tokenizer.start_id] * document.begins, *(~number for number in given), *learnt])
            predicted += len(learnt)
            size += len(document.text.encode("utf-8"))
        writer.close()
    return WrittenDocuments(predicted, size)

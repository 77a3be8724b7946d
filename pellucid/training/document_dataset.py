"""The documents that a run trains on, as ids on disk: read in place, so that they need not fit in memory.

All documents stand one after another; each begins with the start token, which no text can produce, and ends with the
end token. Ids that are given and not to be learnt (a prompt) are stored as their complement, `~id`, below 0.
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
from pellucid.training.packing import cut_into_pieces, pack

__all__ = ["DocumentDataset", "TextBatch", "Windows", "WrittenDocuments", "write_documents"]

_SCANNED = 1 << 22  # ids looked at at once

Numbers = NDArray[numpy.int64]


class TextBatch(NamedTuple):
    """Windows of text as padded ids, on the device.

    Attributes:
        ids: what is read, [batch, seq].
        asked: where what follows is to be predicted, counted row after row, [asked].
        targets: what follows there, [asked].
        may_attend: True where a token may look at another: none after it, and none of another document,
            [#batch, 1, seq, seq].
        positions: where each stands in its document, or piece of one, [seq] for all rows or [batch, seq].
        tokens: read ones, without padding.
    """

    ids: Tensor
    predicted: Tensor
    targets: Tensor
    may_attend: Tensor
    positions: Tensor
    tokens: int

    @property
    def target_tokens(self) -> int:
        """Tokens that are to be predicted."""
        return self.targets.numel()

    @property
    def padded_size(self) -> int:
        """Positions, padding included."""
        return self.ids.numel()


@dataclass(frozen=True)
class Windows:
    """An epoch's windows: pieces of documents, and which of them stand together.

    Attributes:
        starts, lengths: of the pieces.
        pieces: of each window.
    """

    starts: Numbers
    lengths: Numbers
    pieces: list[Numbers]


@dataclass(frozen=True)
class DocumentDataset:
    """Documents as ids.

    Args:
        folder: holds `documents`, an id store.
        tokenizer: that made them.
        context: tokens that are read in one go.
        cross_documents: whether tokens may look at the documents before theirs in the window.
        seed: of the run.
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
    def starts(self) -> Numbers:
        """Where each document begins in the ids."""
        found = [
            place + numpy.flatnonzero(self.ids[place : place + _SCANNED] == self.tokenizer.start_id)
            for place in range(0, len(self.ids), _SCANNED)
        ]
        return numpy.concatenate([numpy.empty(0, numpy.int64), *found])

    @cached_property
    def lengths(self) -> Numbers:
        """Tokens of each document, start and end included."""
        return numpy.diff(self.starts, append=len(self.ids))

    @property
    def cut_prompts(self) -> int:
        """How many documents have a prompt and do not fit into the context: a part of each is learnt without it."""
        long = self.starts[self.lengths - 1 > self.context]  # the last token is predicted, not read
        return int((self.ids[long + 1] < 0).sum())

    def windows(self, epoch: int) -> Windows:
        """Return the windows of an epoch, a pure function of (seed, epoch)."""
        pieces = cut_into_pieces(self.starts, self.lengths, self.context, self.seed, epoch)
        return Windows(*pieces, pack(pieces.lengths, self.context, self.seed, epoch))

    def batch(self, windows: Windows, numbers: Sequence[int], device: torch.device) -> TextBatch:
        """Return some windows, padded to the longest of them."""
        chosen = [windows.pieces[number] for number in numbers]
        longest = max(int(windows.lengths[pieces].sum()) for pieces in chosen)
        shape = (len(chosen), longest)
        ids = numpy.full(shape, self.tokenizer.pad_id, numpy.int64)
        targets = numpy.full(shape, -1, numpy.int64)
        positions, piece_of = numpy.zeros(shape, numpy.int64), numpy.full(shape, -1, numpy.int64)
        tokens = 0
        for row, pieces in enumerate(chosen):
            at = 0
            for piece in pieces.tolist():
                start, length = int(windows.starts[piece]), int(windows.lengths[piece])
                stretch = self.ids[start : start + length + 1]
                ids[row, at : at + length] = numpy.where(stretch[:-1] < 0, ~stretch[:-1], stretch[:-1])
                targets[row, at : at + length] = stretch[1:]
                positions[row, at : at + length] = numpy.arange(length)
                piece_of[row, at : at + length] = piece
                at += length
            tokens += at
        predicted = numpy.flatnonzero(targets >= 0)
        may_attend, where = causal(longest, device), torch.arange(longest, device=device)
        if not self.cross_documents and any(len(pieces) > 1 for pieces in chosen):
            piece = torch.from_numpy(piece_of).to(device)
            may_attend = may_attend & (piece[:, None, :, None] == piece[:, None, None, :])
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
    """What was written.

    Attributes:
        predicted: tokens that are to be predicted: neither given nor a start.
        bytes: of the text that they write, UTF-8.
    """

    predicted: int
    bytes: int


def write_documents(documents: Iterable[Document], folder: Path, tokenizer: Tokenizer) -> WrittenDocuments:
    """Write the ids of documents.

    A prompt and its completion are one text, cut into pieces apart so that none reaches across the border.
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

"""Counterfactual runs: mask or replace a token, ablate a head, patch an activation, remove positional information.

Edits use the same taps as recording: an edit is a function applied to a tap's tensor. Each edited run is returned
together with the unedited one, and with the difference in the output and in any recorded array.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError
from pellucid.inspection.effect import Effect
from pellucid.inspection.encoding import SourceText
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.recording import WITHOUT_POSITIONS, Edit, InspectedModel, TokenizedText, record_run, token_side
from pellucid.inspection.structure import AttentionSite, attentions, find_attention, stacks
from pellucid.inspection.taps import require_tap
from pellucid.inspection.tokens import tokens_of
from pellucid.plurals import pluralize

__all__ = ["Change", "WhatIf", "Write"]


class Change(NamedTuple):
    """An edit of one tap.

    Attributes:
        edit: function of the tap's name and tensor that returns the replacement.
        while_writing: version used during generation, when a position may not exist yet; `edit` if None.
    """

    name: str
    edit: Edit
    while_writing: Edit | None = None


Write = Callable[[Sequence[int], Mapping[str, Edit]], str]
"""Generates greedily, given the ids that the model reads and the edits of its taps; returns the text."""


@dataclass(frozen=True, eq=False)
class WhatIf:
    """An edited run, built step by step: every edit returns a new `WhatIf`, and `run()` runs the model.

    Token positions count from 0, or from the end if negative; target positions include ⟨start⟩, as in `look.target`.

    Attributes:
        encoded: text and target of the unedited run; the edited run has the same target.
        read_source: encodes a text, for `edit_source`; None for a language model.
        write: generates text greedily, with or without edits.
        edited: `encoded`, but with the ids that the edited run reads.
        descriptions: descriptions of all edits, for display.
    """

    inspected: InspectedModel
    encoded: TokenizedText
    read_source: Callable[[str], SourceText] | None
    write: Write
    edited: TokenizedText
    changes: tuple[Change, ...] = ()
    descriptions: tuple[str, ...] = ()

    def mask_token(self, position: int, side: str = "") -> "WhatIf":
        """Prevent all tokens, itself included, from attending to this one.

        The side is source or target; by default the source if there is one.
        """
        side, position = self._resolve(position, side)

        def mask_scores(name: str, scores: Tensor, strict: bool = True) -> Tensor:
            if not _exists(name, position, scores.shape[-1], strict):
                return scores
            return _fill_column(scores, position, _lowest(scores))

        def mask_weights(name: str, weights: Tensor) -> Tensor:
            if position >= weights.shape[-1]:
                return weights
            # If no other key is allowed, zero the whole row: all its scores are equal, so the softmax has spread the
            # weight over masked keys.
            masked = weights[..., position : position + 1] > 0
            return _fill_column(weights, position, 0.0).masked_fill(masked, 0.0)

        changes = []
        for site in attentions(self.inspected.model):
            if site.key_side == side:
                changes += [
                    Change(f"{site.name}.scores", mask_scores, partial(mask_scores, strict=False)),
                    Change(f"{site.name}.weights", mask_weights),
                ]
        return self._with(changes, f"mask {side} token {position} {self._display(side, position)}")

    def replace_token(self, position: int, token: str | int, side: str = "") -> "WhatIf":
        """Replace a token by another.

        Args:
            token: a text that is one token, a token as it is displayed (`▁cat`), or an id.
            side: source or target; by default the source if there is one.

        Raises:
            UserError: if the text is not one token.
        """
        side, position = self._resolve(position, side)
        ids = list(self._ids(side))
        before = self._display(side, position)
        ids[position] = self._find_id(token, side)
        source, target = (ids, self.edited.target) if side == "source" else (self.edited.source, ids)
        new = replace(self, edited=self.edited._replace(source=tuple(source), target=tuple(target)))
        return new._with([], f"replace {side} token {position} {before} by {new._display(side, position)}")

    def edit_source(self, text: str) -> "WhatIf":
        """Let the encoder read another text; the target stays the same."""
        if self.read_source is None:
            raise UserError(
                "a language model has no source", where="edit_source", hint="Call look on the other text instead."
            )
        edited = self.edited._replace(source=tuple(self.read_source(text).ids))
        return replace(self, edited=edited)._with([], f"read {text!r}")

    def ablate_head(self, attention: str, head: int) -> "WhatIf":
        """Set the output of an attention head to zero."""
        return self._ablate_heads(attention, [head], f"ablate head {head} of {attention}")

    def keep_heads(self, attention: str, heads: Sequence[int]) -> "WhatIf":
        """Set the output of all other heads of an attention to zero."""
        self._require_heads(attention, heads)
        count = find_attention(self.inspected.model, attention).module.n_heads
        others = [head for head in range(count) if head not in {kept % count for kept in heads}]
        return self._ablate_heads(attention, others, f"keep only heads {', '.join(map(str, heads))} of {attention}")

    def zero(self, name: str, position: int | None = None) -> "WhatIf":
        """Set a tapped tensor to zero, at all positions or at one: `zero("encoder.1.feed_forward.output")`."""
        at = self._tap_position(name, position)

        def to_zero(_: str, x: Tensor, strict: bool = True) -> Tensor:
            if at is None or x.ndim < 2:  # without positional encodings, their tap is a scalar 0
                return torch.zeros_like(x)
            if not _exists(name, at, x.shape[-2], strict):
                return x
            return x.index_fill(-2, torch.tensor([at], device=x.device), 0.0)

        return self._with([Change(name, to_zero, partial(to_zero, strict=False))], f"zero {name}{_at_position(at)}")

    def patch(
        self, name: str, other: Look | LabelledArray, position: int | None = None, from_position: int | None = None
    ) -> "WhatIf":
        """Replace an activation by that of another run (activation patching), at all positions or at one.

        Args:
            other: a look at another text, or an array of it.
            position: position to replace; by default all, which requires texts of equal length.
            from_position: position in the other text to copy from; by default the same.

        Raises:
            UserError: if the shapes do not fit.
        """
        at = self._tap_position(name, position)
        if not isinstance(other, Look | LabelledArray):
            raise UserError(
                f"expected a look at another text, got {other!r}", where="patch", hint="Pass model.look(TEXT)."
            )
        if from_position is not None and position is None:
            raise UserError(
                "from_position requires position", where="patch", hint="Pass the position to replace as well."
            )
        array = other if isinstance(other, LabelledArray) else other[name]
        values = torch.from_numpy(numpy.ascontiguousarray(array.values))
        taken = at if from_position is None else from_position
        if taken is not None:
            count = values.shape[-2] if values.ndim > 1 else 0
            if not -count <= taken < count:
                raise UserError(
                    f"position {taken} is out of range: {name} of the other text has {pluralize(count, 'position')}",
                    where="patch",
                    hint="Positions count from 0, or from the end if negative.",
                )
            values = values[..., taken : taken % count + 1, :]

        def patched(_: str, x: Tensor, strict: bool = True) -> Tensor:
            if at is not None and not _exists(name, at, x.shape[-2], strict):
                return x
            x = x.clone()
            into = x if at is None else x[..., at : at + 1, :]
            if strict and (into.shape[-values.ndim :] != values.shape or values.ndim < x.ndim - 1):
                same_length = "Use a text with the same number of tokens."
                raise UserError(
                    f"shapes differ: {name} is {list(into.shape[1:])} in this run, {list(values.shape)} in the other",
                    where="patch",
                    hint=same_length if at is not None else "Pass position and from_position.",
                )
            # During generation, the text may be longer or shorter than the other one.
            shared = tuple(slice(min(a, b)) for a, b in zip(into.shape[-values.ndim :], values.shape, strict=True))
            into[shared if values.ndim == into.ndim else (slice(None), *shared)] = values[shared].to(x)
            return x

        origin = f" from position {from_position}" if from_position is not None else ""
        origin += f" of {other.encoded.text!r}" if isinstance(other, Look) else ""
        change = Change(name, patched, partial(patched, strict=False))
        return self._with([change], f"patch {name}{_at_position(at)}{origin}")

    def temperature(self, attention: str, value: float, head: int | None = None) -> "WhatIf":
        """Divide the scores of an attention by a temperature: above 1 flattens its weights, below 1 sharpens them.

        Args:
            head: a single head; by default all.
        """
        if not value > 0:
            raise UserError(
                f"the temperature must be above 0, got {value:g}",
                where="temperature",
                hint="To switch a head off, use ablate_head.",
            )
        self._require_heads(attention, [] if head is None else [head])

        def divide(_: str, scores: Tensor) -> Tensor:
            divided = (scores / value).clamp(min=_lowest(scores))  # keeps masked tokens at the lowest finite score
            if head is None:
                return divided
            scores = scores.clone()
            scores[:, head] = divided[:, head]
            return scores

        of_head = "" if head is None else f", head {head}"
        return self._with([Change(f"{attention}.scores", divide)], f"temperature {value:g} in {attention}{of_head}")

    def remove_positions(self) -> "WhatIf":
        """Remove all positional information: encodings, rotations, and ALiBi biases.

        With rotary positions, the recorded queries and keys are counter-rotated, so that the rotation restores the
        projected values.
        """
        changes = [
            Change(stack.position_tap, lambda _, x: torch.zeros_like(x)) for stack in stacks(self.inspected.model)
        ]
        for site in attentions(self.inspected.model):
            rotate_back = partial(_rotate_back, site)
            changes += [Change(f"{site.name}.{quantity}", rotate_back) for quantity in ("query", "key")]
            changes.append(Change(f"{site.name}.scores", partial(_subtract_bias, site)))
        return self._with(changes, WITHOUT_POSITIONS)

    def run(self, what: Sequence[str] | None = None, *, write: bool = True) -> Effect:
        """Run the model with and without the edits: over the same target, and generating freely.

        Args:
            what: names or patterns of the taps to record; by default all. Logits are always recorded.
            write: whether to generate greedily with and without the edits as well (one forward pass per token).
        """
        names = None if what is None else [*what, "logits"]
        edits = _compose((change.name, change.edit) for change in self.changes)
        before = record_run(Look, self.inspected, self.encoded, names)
        after = record_run(Look, self.inspected, self.edited, names, edits, self.descriptions)
        if not write:
            return Effect(before, after, None, None)
        edits = _compose((change.name, change.while_writing or change.edit) for change in self.changes)
        text_before = self.write(self.encoded.source or self.encoded.target, {})
        return Effect(before, after, text_before, self.write(self.edited.source or self.edited.target, edits))

    def _with(self, changes: Sequence[Change], description: str) -> "WhatIf":
        return replace(self, changes=(*self.changes, *changes), descriptions=(*self.descriptions, description))

    def _ablate_heads(self, attention: str, heads: Sequence[int], description: str) -> "WhatIf":
        self._require_heads(attention, heads)

        def ablated(_: str, head_output: Tensor) -> Tensor:
            head_output = head_output.clone()
            head_output[:, list(heads)] = 0.0
            return head_output

        return self._with([Change(f"{attention}.head_output", ablated)], description)

    def _require_heads(self, attention: str, heads: Sequence[int]) -> None:
        count = find_attention(self.inspected.model, attention).module.n_heads
        for head in heads:
            if not -count <= head < count:
                raise UserError(
                    f"{attention} has {pluralize(count, 'head')}, counted from 0; got {head}",
                    where=attention,
                    hint=f"Pass a head from 0 to {count - 1}, or a negative one, counted from the end.",
                )

    def _tap_position(self, name: str, position: int | None) -> int | None:
        """Return a position as a non-negative index into the tap's tensor; None for all positions."""
        require_tap(self.inspected.model, name)
        return None if position is None else self._resolve(position, token_side(self.inspected.model, name))[1]

    def _resolve(self, position: int, side: str) -> tuple[str, int]:
        """Return the side of a token, and its position as a non-negative index."""
        sides = ("source", "target") if self.edited.source else ("target",)
        side = side or sides[0]
        if side not in sides:
            raise UserError(f"unknown side {side}", where="side", hint=f"Pass {' or '.join(sides)}.")
        count = len(self._ids(side))
        if not -count <= position < count:
            raise UserError(
                f"the {side} has {pluralize(count, 'token')}, counted from 0; got {position}",
                where=side,
                hint=f"Pass a position from 0 to {count - 1}, or a negative one, counted from the end.",
            )
        return side, position % count

    def _ids(self, side: str) -> tuple[int, ...]:
        return self.edited.source if side == "source" else self.edited.target

    def _display(self, side: str, position: int) -> str:
        return tokens_of(self.inspected.tokenizer(side), self._ids(side))[position].display

    def _find_id(self, token: str | int, side: str) -> int:
        tokenizer = self.inspected.tokenizer(side)
        if isinstance(token, int):
            if not 0 <= token < tokenizer.vocab_size:
                raise UserError(
                    f"id {token} is not in the vocabulary",
                    where="token",
                    hint=f"Ids range from 0 to {tokenizer.vocab_size - 1}.",
                )
            return token
        ids = tokenizer.encode(token)
        if len(ids) == 1:
            return int(ids[0])
        for number in range(tokenizer.vocab_size):
            if tokenizer.pieces_from_ids([number])[0].display == token:
                return number
        shown = " ".join(piece.display for piece in tokenizer.pieces_from_ids(ids))
        raise UserError(
            f"{token!r} is {pluralize(len(ids), 'token')}: {shown}",
            where="replace_token",
            hint="Pass a text that is a single token, or replace the whole text with edit_source.",
        )


def _compose(changes: Iterable[tuple[str, Edit]]) -> dict[str, Edit]:
    """Combine the edits into one per tap, applied in order."""
    edits: dict[str, Edit] = {}
    for name, edit in changes:
        edits[name] = edit if name not in edits else partial(_apply_both, edits[name], edit)
    return edits


def _apply_both(first: Edit, second: Edit, name: str, x: Tensor) -> Tensor:
    return second(name, first(name, x))


def _lowest(scores: Tensor) -> float:
    """Return the lowest score that is still finite when the softmax converts it to float32."""
    return max(torch.finfo(scores.dtype).min, torch.finfo(torch.float32).min)


def _fill_column(x: Tensor, column: int, value: float) -> Tensor:
    return x.index_fill(-1, torch.tensor([column], device=x.device), value)


def _exists(name: str, position: int, count: int, strict: bool) -> bool:
    """Return whether index `position` is below `count`.

    Raises:
        UserError: if it is out of range and `strict`: an edit applied later has shortened the text.
    """
    if strict and position >= count:
        raise UserError(
            f"cannot edit position {position}: {name} has only {pluralize(count, 'position')}",
            where="what_if",
            hint="Edit the text first, then its tokens.",
        )
    return position < count


def _at_position(position: int | None) -> str:
    return "" if position is None else f" at position {position}"


def _rotate_back(site: AttentionSite, _: str, x: Tensor) -> Tensor:
    """Counter-rotate, to cancel the rotary embedding applied afterwards."""
    return site.module.positions.unrotate(x, torch.arange(x.shape[2], device=x.device))


def _subtract_bias(site: AttentionSite, _: str, scores: Tensor) -> Tensor:
    queries, keys = (torch.arange(size, device=scores.device) for size in scores.shape[-2:])
    bias = site.module.positions.score_bias(queries, keys)
    return scores if bias is None else scores - bias

"""What would the model do if: mask a token, replace it, drop a head, carry a state over, take positions away.

Changing uses the taps that recording uses: an edit is a function of a tap's number. Each run of an edited model comes
with the plain one, and with the difference in outputs and in any number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor

from pellucid.errors import UserError, did_you_mean
from pellucid.inspection.effect import Effect
from pellucid.inspection.labelled_array import LabelledArray
from pellucid.inspection.look import Look
from pellucid.inspection.recorded_run import WITHOUT_POSITIONS, InspectedModel, TokenizedText, label_rows, token_side
from pellucid.inspection.recording import Edit, ModelInput, record
from pellucid.inspection.structure import AttentionSite, attentions, find_attention, stacks
from pellucid.inspection.taps import tap_names
from pellucid.inspection.tokens import tokens_of
from pellucid.layers.positions import AlibiBias, Rotary
from pellucid.plurals import pluralize

__all__ = ["Change", "WhatIf"]

OUTPUTS = "logits"


class Change(NamedTuple):
    """One edit of a number.

    Attributes:
        name: full name of the tap.
        edit: gives what shall be there.
        while_writing: the same while the model writes by itself, when a place may not be there yet; else `edit`.
    """

    name: str
    edit: Edit
    while_writing: Edit | None = None


Writes = Callable[[Sequence[int], Mapping[str, Edit]], str]
"""Given the ids that are read and the edits, returns what the model writes by itself, most probable token by token."""


@dataclass(frozen=True, eq=False)
class WhatIf:
    """A run that is to be edited; every verb returns a new one, `run()` runs it.

    Positions of tokens count from 0, negative ones from the end; of the target they count ⟨start⟩, as in `look.target`.

    Attributes:
        subject: the model.
        written: text and target of the plain run; the edited run has the same target.
        read_source: text → ids, for `edit_source`; None in a language model.
        writes: what it writes by itself; None if that is not asked.
        changes: edits of numbers.
        source, target: ids that the edited run reads.
        words: all edits, for people.
    """

    inspected: InspectedModel
    encoded: TokenizedText
    read_source: Callable[[str], Sequence[int]] | None
    writes: Writes | None
    source: tuple[int, ...]
    target: tuple[int, ...]
    changes: tuple[Change, ...] = ()
    words: tuple[str, ...] = field(default=())

    def mask_token(self, position: int, side: str = "") -> "WhatIf":
        """Let nobody look at a token; what it itself computes reaches no other.

        Args:
            position: of the token.
            side: source or target; the source if there is one.
        """
        side, place = self._token(position, side)

        def hidden(name: str, scores: Tensor, strict: bool = True) -> Tensor:
            if not _is_there(name, place, scores.shape[-1], strict):
                return scores
            return _with(scores, place, _lowest(scores))

        def gone(name: str, weights: Tensor) -> Tensor:
            if place >= weights.shape[-1]:
                return weights
            # A row that may look at nothing else is left without weight: the softmax, which knows no score above the
            # lowest there, has spread it, also over what the mask forbids.
            return _with(weights, place, 0.0).masked_fill(weights[..., place : place + 1] > 0, 0.0)

        words = f"mask {side} token {place} {self._display(side, place)}"
        changes = [
            Change(f"{one.name}.{quantity}", edit, partial(hidden, strict=False) if edit is hidden else None)
            for one in attentions(self.inspected.model)
            if one.key_side == side
            for quantity, edit in (("scores", hidden), ("weights", gone))
        ]
        return self._and(changes, words)

    def replace_token(self, position: int, token: str | int, side: str = "") -> "WhatIf":
        """Put another token in a token's place.

        Args:
            position: of the token.
            token: a text that is one token, a token as it is displayed (`▁cat`), or an id.
            side: source or target; the source if there is one.

        Raises:
            UserError: if the text is not one token.
        """
        side, place = self._token(position, side)
        number = self._id_of(token, side)
        ids = list(self.source if side == "source" else self.target)
        before = self._display(side, place)
        ids[place] = number
        new = replace(self, source=tuple(ids)) if side == "source" else replace(self, target=tuple(ids))
        return new._and([], f"replace {side} token {place} {before} by {new._display(side, place)}")

    def edit_source(self, text: str) -> "WhatIf":
        """Let the encoder read another text; the target stays."""
        if self.read_source is None:
            raise UserError("a language model has no source", where="edit_source", hint="Look at the other text.")
        return replace(self, source=tuple(self.read_source(text)))._and([], f"read {text!r}")

    def ablate_head(self, attention: str, head: int) -> "WhatIf":
        """Take what a head mixed out of its attention's output."""
        return self._heads(attention, [head], f"ablate head {head} of {attention}")

    def keep_heads(self, attention: str, heads: Sequence[int]) -> "WhatIf":
        """Take out what all heads but these mixed."""
        count = find_attention(self.inspected.model, attention).module.n_heads
        self._known_heads(attention, heads)
        others = [head for head in range(count) if head not in {h % count for h in heads}]
        return self._heads(attention, others, f"keep of {attention} heads {', '.join(map(str, heads))} only")

    def zero(self, name: str, position: int | None = None) -> "WhatIf":
        """Set a number to zero, at all positions or at one: `zero("encoder.1.feed_forward.output")`."""
        place = self._place(name, position)

        def nothing(_: str, x: Tensor, strict: bool = True) -> Tensor:
            if place is None or x.ndim < 2:  # a model without codes has a single 0 for them
                return torch.zeros_like(x)
            if not _is_there(name, place, x.shape[-2], strict):
                return x
            return x.index_fill(-2, torch.tensor([place], device=x.device), 0.0)

        return self._and([Change(name, nothing, partial(nothing, strict=False))], f"zero {name}{_at(place)}")

    def patch(
        self, name: str, other: Look | LabelledArray, position: int | None = None, from_position: int | None = None
    ) -> "WhatIf":
        """Put a number of another run in its place, at all positions or at one.

        Args:
            name: full name of the tap.
            other: a look at another text, or a number of it.
            position: whose state is replaced; all of them if not given, and then both texts must have equal lengths.
            from_position: whose state of the other text it gets; the same position unless given.

        Raises:
            UserError: if the shapes do not fit.
        """
        place = self._place(name, position)
        if not isinstance(other, Look | LabelledArray):
            raise UserError(
                f"expected a look at another text, got {other!r}", where="patch", hint="Pass model.look(TEXT)."
            )
        array = other if isinstance(other, LabelledArray) else other[name]
        values = torch.from_numpy(numpy.ascontiguousarray(array.values))
        if from_position is not None and position is None:
            raise UserError(
                "from_position needs position: where the state goes",
                where="patch",
                hint="Pass position, where the state goes.",
            )
        source = place if from_position is None else from_position
        if source is not None:
            if values.ndim < 2 or not -values.shape[-2] <= source < values.shape[-2]:
                there = values.shape[-2] if values.ndim > 1 else 0
                raise UserError(
                    f"{name} of the other text has no position {source}: {there} there",
                    where="patch",
                    hint="Pass a from_position of the other text.",
                )
            values = values[..., source : source % values.shape[-2] + 1, :]

        def carried(_: str, x: Tensor, strict: bool = True) -> Tensor:
            if place is not None and not _is_there(name, place, x.shape[-2], strict):
                return x
            into = x if place is None else x[..., place : place + 1, :]
            if strict and (into.shape[-values.ndim :] != values.shape or values.ndim < x.ndim - 1):
                raise UserError(
                    f"{name} is {list(into.shape[1:])} here and {list(values.shape)} there",
                    where="patch",
                    hint="Take a text of as many tokens."
                    if place is not None
                    else "Name the position that is replaced, and from_position.",
                )
            x = x.clone()
            into = x if place is None else x[..., place : place + 1, :]
            shared = tuple(slice(min(a, b)) for a, b in zip(into.shape[-values.ndim :], values.shape, strict=True))
            into[shared if values.ndim == into.ndim else (slice(None), *shared)] = values[shared].to(x)
            return x

        came = f" from position {from_position}" if from_position is not None else ""
        came += f" of {other.encoded.text!r}" if isinstance(other, Look) else ""
        change = Change(name, carried, partial(carried, strict=False))
        return self._and([change], f"patch {name}{_at(place)}{came}")

    def temperature(self, attention: str, value: float, head: int | None = None) -> "WhatIf":
        """Divide an attention's scores by a temperature: above 1 its weights get even, below 1 sharp.

        Args:
            attention: its full name.
            value: above 0.
            head: of one head; all of them unless given.
        """
        if not value > 0:
            raise UserError(
                f"a temperature is above 0, got {value:g}",
                where="temperature",
                hint="Pass a number such as 0.5 or 2.",
            )
        self._known_heads(attention, [] if head is None else [head])

        def softened(_: str, scores: Tensor) -> Tensor:
            softer = (scores / value).clamp(min=_lowest(scores))  # of a masked token, too
            if head is None:
                return softer
            scores = scores.clone()
            scores[:, head] = softer[:, head]
            return scores

        of = "" if head is None else f", head {head}"
        return self._and([Change(f"{attention}.scores", softened)], f"temperature {value:g} in {attention}{of}")

    def remove_positions(self) -> "WhatIf":
        """Tell no token where it stands: no codes, queries and keys unturned, no bias by distance.

        Under rotary positions the recorded query and key are the ones that turning takes back to what was projected.
        """
        changes = [Change(one.position_tap, lambda _, x: torch.zeros_like(x)) for one in stacks(self.inspected.model)]
        for one in attentions(self.inspected.model):
            if isinstance(one.module.positions, Rotary):
                changes += [Change(f"{one.name}.{side}", _rotated_back(one)) for side in ("query", "key")]
            if isinstance(one.module.positions, AlibiBias):
                changes.append(Change(f"{one.name}.scores", _without_bias(one)))
        return self._and(changes, WITHOUT_POSITIONS)

    def run(self, what: Sequence[str] | None = None, *, writes: bool = True) -> "Effect":
        """Run the model plainly and edited, over the same target, and by itself.

        Args:
            what: which numbers to record; all unless given. The logits are recorded in any case.
            writes: whether the model shall also write by itself, plainly and edited: a run for every token.
        """
        names = None if what is None else [*what, OUTPUTS]
        edits = self._composed([(change.name, change.edit) for change in self.changes])
        before = self._look(self.encoded, names, {}, ())
        after = self._look(self.encoded._replace(source=self.source, target=self.target), names, edits, self.words)
        if self.writes is None or not writes:
            return Effect(before, after, None, None)
        plain = self.writes(self.encoded.source or self.encoded.target, {})
        edits = self._composed([(change.name, change.while_writing or change.edit) for change in self.changes])
        return Effect(before, after, plain, self.writes(self.source or self.target, edits))

    def _look(
        self, encoded: TokenizedText, names: Sequence[str] | None, edits: Mapping[str, Edit], words: tuple[str, ...]
    ) -> Look:
        given = ModelInput([encoded.source] if encoded.source else [], [encoded.target])
        recording = record(self.inspected.model, given, names, edits)
        return label_rows(Look, self.inspected, [encoded], recording, words)[0]

    def _composed(self, changes: Sequence[tuple[str, Edit]]) -> dict[str, Edit]:
        """Return one edit a tap; several of the same tap are made one after the other."""
        edits: dict[str, Edit] = {}
        for name, edit in changes:
            edits[name] = edit if name not in edits else _after(edits[name], edit)
        return edits

    def _and(self, changes: Sequence[Change], words: str) -> "WhatIf":
        return replace(self, changes=(*self.changes, *changes), words=(*self.words, words))

    def _heads(self, attention: str, heads: Sequence[int], words: str) -> "WhatIf":
        self._known_heads(attention, heads)

        def without(_: str, head_output: Tensor) -> Tensor:
            head_output = head_output.clone()
            head_output[:, list(heads)] = 0.0
            return head_output

        return self._and([Change(f"{attention}.head_output", without)], words)

    def _known_heads(self, attention: str, heads: Sequence[int]) -> None:
        count = find_attention(self.inspected.model, attention).module.n_heads
        for head in heads:
            if not -count <= head < count:
                raise UserError(
                    f"{attention} has {pluralize(count, 'head')}, counted from 0; got {head}",
                    where=attention,
                    hint=f"Pass a head from 0 to {count - 1}.",
                )

    def _known(self, name: str) -> None:
        names = tap_names(self.inspected.model)
        if name not in names:
            hint = did_you_mean(name, names, "docs/taps.md lists their names.")
            raise UserError(f"no tap is called {name}", where=name, hint=hint)

    def _place(self, name: str, position: int | None) -> int | None:
        """Return the place of a position in a number, from 0; None for all of them."""
        self._known(name)
        return None if position is None else self._token(position, token_side(self.inspected.model, name))[1]

    def _token(self, position: int, side: str) -> tuple[str, int]:
        side = side or ("source" if self.source else "target")
        if side not in ("source", "target") or (side == "source" and not self.source):
            raise UserError(f"there is no side {side}", where="side", hint="It is source or target.")
        ids = self.source if side == "source" else self.target
        if not -len(ids) <= position < len(ids):
            raise UserError(
                f"the {side} has {pluralize(len(ids), 'token')}, counted from 0; got {position}",
                where=side,
                hint="Pass a position of this text, from 0, or from the end with negative numbers.",
            )
        return side, position % len(ids)

    def _tokenizer(self, side: str) -> Any:
        return self.inspected.source_tokenizer if side == "source" else self.inspected.target_tokenizer

    def _display(self, side: str, place: int) -> str:
        ids = self.source if side == "source" else self.target
        return tokens_of(self._tokenizer(side), ids)[place].display

    def _id_of(self, token: str | int, side: str) -> int:
        tokenizer = self._tokenizer(side)
        if isinstance(token, int):
            if not 0 <= token < tokenizer.vocab_size:
                raise UserError(
                    f"id {token} is not in the vocabulary of {tokenizer.vocab_size} ids",
                    where="token",
                    hint="Pass an id of the model's tokenizer, or the token as text.",
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
            hint="Give a text that is one token, or change the whole text with edit_source.",
        )


def _after(first: Edit, second: Edit) -> Edit:
    return lambda name, x: second(name, first(name, x))


def _lowest(scores: Tensor) -> float:
    """Return the lowest finite number of scores, also after they are turned to float32 for the softmax."""
    return max(torch.finfo(scores.dtype).min, torch.finfo(torch.float32).min)


def _with(x: Tensor, column: int, value: float) -> Tensor:
    return x.index_fill(-1, torch.tensor([column], device=x.device), value)


def _is_there(name: str, place: int, count: int, strict: bool) -> bool:
    """Return whether there is a place among so many.

    Raises:
        UserError: if there is none, and there must be: a text that was changed later on has got shorter.
    """
    if strict and place >= count:
        raise UserError(
            f"position {place} is to be changed, and {name} has {pluralize(count, 'position')}",
            where="what_if",
            hint="Change the text first, then its tokens.",
        )
    return place < count


def _at(position: int | None) -> str:
    return "" if position is None else f" at position {position}"


def _rotated_back(one: AttentionSite) -> Edit:
    """Undo beforehand what turning by positions will do: turn by the opposite angles."""

    def back(_: str, x: Tensor) -> Tensor:
        return one.module.positions.unrotate(x, torch.arange(x.shape[2], device=x.device))

    return back


def _without_bias(one: AttentionSite) -> Edit:
    def plain(_: str, scores: Tensor) -> Tensor:
        queries, keys = (torch.arange(size, device=scores.device) for size in scores.shape[-2:])
        bias = one.module.positions.score_bias(queries, keys)
        return scores if bias is None else scores - bias

    return plain

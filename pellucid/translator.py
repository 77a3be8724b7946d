"""Strings in, strings out."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from torch import Tensor

from pellucid.errors import UserError
from pellucid.generation.attention_alignment import AlignmentHeads, AlignmentLink, attention_alignments, strongest_links
from pellucid.generation.beam import Hypothesis, beam_search
from pellucid.generation.checks import GenerationWarning, check_coverage, check_length, check_numbers, check_repetition
from pellucid.generation.constraints import SpecialTokens
from pellucid.generation.generation_config import LONGEST_SPLIT, GenerationConfig
from pellucid.generation.placeholder_insertion import insert_by_alignment
from pellucid.generation.placeholders import has_all_placeholders, restore_placeholders
from pellucid.generation.settings import override_settings
from pellucid.generation.text_splitting import Part, SplitText, TextSplitter
from pellucid.generation.translation import Alternative, Translation, best_combinations, blank
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.plurals import pluralize
from pellucid.tokenizers import Tokenizer

if TYPE_CHECKING:
    from pellucid.inspection import Look, LookBatch, WhatIf

__all__ = ["Translator"]

OnProgress = Callable[[int], object]


class _Done(NamedTuple):
    """A part and what became of it; tokens and links are those of its best translation."""

    alternatives: list[Alternative]
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    links: list[AlignmentLink]
    notices: list[GenerationWarning]


class Translator:
    """A model that translates texts.

    Args:
        model: in the precision and on the device it shall run.
        source_tokenizer: of the source language.
        target_tokenizer: of the target language; may be the same.
        config: how to search unless told otherwise.
        alignment_heads: (layer, head) of the cross-attention heads that training guided to be alignments.
        copies_placeholders: whether it was trained to copy placeholder ids.
        source_language, target_language: codes; None if unknown.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        config: GenerationConfig | None = None,
        *,
        alignment_heads: AlignmentHeads = (),
        copies_placeholders: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> None:
        self.model = model.eval()
        self.source_tokenizer = source_tokenizer
        self.target_tokenizer = target_tokenizer
        self.config = config or GenerationConfig()
        self.alignment_heads = tuple((layer, head) for layer, head in alignment_heads)
        self.copies_placeholders = copies_placeholders
        self.source_language = source_language
        self.target_language = target_language

    @property
    def special_tokens(self) -> SpecialTokens:
        """The target's ids with a meaning of their own."""
        tokenizer = self.target_tokenizer
        return SpecialTokens(tokenizer.pad_id, tokenizer.start_id, tokenizer.end_id, tuple(tokenizer.placeholder_ids))

    @overload
    def translate(
        self,
        text: str,
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: Sequence[str],
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | Sequence[str],
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> Translation | list[Translation]:
        r"""Translate a text, or each of several; as many come back, in the same order, and a blank one as it is.

        Lines within a text stay lines (`\n`, `\r\n`). A line of more than `split_above` tokens is cut at sentence ends,
        its parts are translated alone and joined again. In float32 no text's translation depends on its neighbours.

        Args:
            text: one text, or any number.
            prefix: how the translation must begin; one for all texts, or one a text.
            alignment: whether to tell which token came from which.
            on_progress: called with the number of parts done since the last call.
            settings: fields of GenerationConfig, such as `beam=5` or `n_best=3`.

        Raises:
            UserError: for a setting that does not exist or does not fit.
        """
        texts = [text] if isinstance(text, str) else list(text)
        if not all(isinstance(one, str) for one in texts):
            raise UserError("expected a text or a list of texts", where="translate")
        prefixes = [prefix] * len(texts) if isinstance(prefix, str) else list(prefix)
        if len(prefixes) != len(texts):
            given = pluralize(len(prefixes), "prefix", "prefixes")
            raise UserError(f"{pluralize(len(texts), 'text')}, but {given}", where="translate")
        config = self.settings(**settings)
        maker = self.text_splitter(config)
        plans = [maker.plan(one) for one in texts]
        parts = [part for plan in plans for part in plan.parts]
        starts = [
            (self.target_tokenizer.encode(begin) if begin and n == 0 else [])
            for plan, begin in zip(plans, prefixes, strict=True)
            for n in range(len(plan.parts))
        ]
        done = iter(self._translate_parts(parts, starts, config, alignment, on_progress or (lambda count: None)))
        found = [
            _assembled(one, plan, [next(done) for _ in plan.parts], config, alignment)
            for one, plan in zip(texts, plans, strict=True)
        ]
        return found[0] if isinstance(text, str) else found

    @overload
    def look(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
        self, text: str, *, target: str | None = None, prefix: str = "", what: Sequence[str] | None = None
    ) -> "Look": ...

    @overload
    def look(
        self,
        text: Sequence[str],
        *,
        target: Sequence[str] | None = None,
        prefix: str = "",
        what: Sequence[str] | None = None,
    ) -> "LookBatch": ...

    def look(
        self,
        text: str | Sequence[str],
        *,
        target: str | Sequence[str] | None = None,
        prefix: str = "",
        what: Sequence[str] | None = None,
    ) -> "Look | LookBatch":
        """Look inside while it reads and writes a text: see `pellucid.inspection.look_at_translator`."""
        from pellucid.inspection import look_at_translator

        return look_at_translator(self, text, target=target, prefix=prefix, what=what)

    def what_if(self, text: str, *, target: str | None = None) -> "WhatIf":
        """Return a run that can be edited, to see what the edit does: see `pellucid.inspection.what_if.WhatIf`."""
        from pellucid.inspection import what_if_translator

        return what_if_translator(self, text, target=target)

    def settings(self, **settings: Any) -> GenerationConfig:
        """Return the model's settings with some changed; None changes nothing.

        Raises:
            UserError: for a setting that does not exist or does not fit.
        """
        changed = {name: value for name, value in settings.items() if value is not None}
        if "n_best" in changed and "beam" not in changed:
            changed["beam"] = max(self.config.beam, changed["n_best"])
        config = override_settings(self.config, changed)
        shape = self.model.config
        longest = config.split_above if "split_above" in changed else None
        if longest is not None and shape.positions == "learned" and longest >= shape.max_positions:
            raise UserError(
                f"split_above: {longest} tokens and their end need more than the {shape.max_positions} "
                "positions that the model has learned",
                where="split_above",
                hint=f"Set it to at most {shape.max_positions - 1}.",
            )
        return config

    def text_splitter(self, config: GenerationConfig) -> TextSplitter:
        """Return what cuts texts for this model."""
        shape = self.model.config
        longest = config.split_above or LONGEST_SPLIT
        if shape.positions == "learned":
            longest = min(longest, shape.max_positions - 1)
        ids = len(self.source_tokenizer.placeholder_ids) if self.copies_placeholders else 0
        return TextSplitter(self.source_tokenizer, longest, config.protect_placeholders, ids)

    def _translate_parts(
        self,
        parts: Sequence[Part],
        prefixes: Sequence[list[int]],
        config: GenerationConfig,
        alignment: bool,
        on_progress: OnProgress,
    ) -> list[_Done]:
        done: dict[int, _Done] = {
            i: _Done([Alternative(part.source, 0.0, 0.0, 0)], (), (), [], [])
            for i, part in enumerate(parts)
            if not part.ids
        }
        on_progress(len(done))
        waiting = [i for i, part in enumerate(parts) if part.ids]
        for batch in _batches(waiting, [len(part.ids) for part in parts], config.batch_tokens // config.beam):
            chosen = [parts[i] for i in batch]
            results = self._batch(chosen, [prefixes[i] for i in batch], config, alignment)
            done.update(zip(batch, results, strict=True))
            on_progress(len(batch))
        return [done[i] for i in range(len(parts))]

    def _batch(
        self, parts: list[Part], prefixes: list[list[int]], config: GenerationConfig, alignment: bool
    ) -> list[_Done]:
        found = beam_search(self.model, [part.ids for part in parts], self.special_tokens, config, prefixes)
        maker = self.text_splitter(config)
        lost = [i for i, part in enumerate(parts) if part.numbered and not self.kept(part, found[i][0])]
        if lost:  # once more, without showing the model the placeholders it lost
            parts = [maker.part(part.source, numbered=False) if i in lost else part for i, part in enumerate(parts)]
            again = beam_search(
                self.model, [parts[i].ids for i in lost], self.special_tokens, config, [prefixes[i] for i in lost]
            )
            for i, n_best in zip(lost, again, strict=True):
                found[i] = n_best
        looked = self._look(parts, found, alignment)
        return [self._finished(part, n_best, rows) for part, n_best, rows in zip(parts, found, looked, strict=True)]

    def kept(self, part: Part, hypothesis: Hypothesis) -> bool:
        """Tell whether a translation has all the placeholders of its source."""
        return has_all_placeholders(part.protected, self.target_tokenizer.decode_segments(hypothesis.ids))

    def _look(self, parts: list[Part], found: list[list[Hypothesis]], alignment: bool) -> list[list[Tensor]]:
        """Return the soft alignments needed: of every hypothesis that lacks placeholders, of the best one otherwise."""
        counts = [
            len(n_best) if part.protected.values and not part.numbered else int(alignment or bool(self.alignment_heads))
            for part, n_best in zip(parts, found, strict=True)
        ]
        sources = [part.ids for part, count in zip(parts, counts, strict=True) for _ in range(count)]
        targets = [h.ids for n_best, count in zip(found, counts, strict=True) for h in n_best[:count]]
        weights = iter(attention_alignments(self.model, sources, targets, self.special_tokens, self.alignment_heads))
        return [[next(weights) for _ in range(count)] for count in counts]

    def _finished(self, part: Part, n_best: list[Hypothesis], looked: list[Tensor]) -> _Done:
        inserting = bool(part.protected.values) and not part.numbered
        source_pieces = self.source_tokenizer.pieces_from_ids(part.ids[:-1])
        alternatives, texts = [], []
        for i, hypothesis in enumerate(n_best):
            segments = self.target_tokenizer.decode_segments(hypothesis.ids)
            text = restore_placeholders(segments, part.protected.values)
            if inserting:
                pieces = self.target_tokenizer.pieces_from_ids(hypothesis.ids)
                text = insert_by_alignment(part.protected, source_pieces, pieces, looked[i], text)
            texts.append("".join(segment for segment in segments if isinstance(segment, str)))
            alternatives.append(
                Alternative(text.strip(), hypothesis.score, hypothesis.log_prob, len(hypothesis.token_log_probs))
            )
        best = n_best[0]
        source_tokens = tuple(piece.display for piece in source_pieces)
        notices = [
            check_numbers(part.protected.bare, texts[0]),
            check_repetition(part.ids, best.ids),
            check_length(len(part.ids) - 1, len(best.ids)),
            check_coverage(looked[0], source_tokens) if looked and self.alignment_heads else None,
            None
            if best.ended
            else GenerationWarning("cut", f"cut at the longest length, {pluralize(len(best.ids), 'token')}"),
            _placed_by_alignment(part) if inserting else None,
        ]
        return _Done(
            alternatives,
            source_tokens,
            tuple(piece.display for piece in self.target_tokenizer.pieces_from_ids(best.ids)),
            strongest_links(looked[0]) if looked else [],
            [notice for notice in notices if notice is not None],
        )


def _placed_by_alignment(part: Part) -> GenerationWarning:
    names = ", ".join(part.protected.values)
    return GenerationWarning("placeholder", f"placed by the alignment, not by the model: {names}")


def _batches(waiting: Sequence[int], lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield the waiting parts in batches of like length, the longest first; a batch is within the budget, or alone."""
    batch: list[int] = []
    for i in sorted(waiting, key=lambda i: -lengths[i]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _assembled(text: str, plan: SplitText, done: list[_Done], config: GenerationConfig, alignment: bool) -> Translation:
    if not done:
        return blank(text, alignment)
    chosen = best_combinations([part.alternatives for part in done], config.n_best, config.length_penalty)
    n_best = tuple(
        Alternative(
            plan.assemble([part.alternatives[i].text for part, i in zip(done, which, strict=True)]), score, total, n
        )
        for which, score, total, n in chosen
    )
    links: list[AlignmentLink] = []
    source_tokens: list[str] = []
    tokens: list[str] = []
    for part in done:
        shift = (len(source_tokens), len(tokens))
        links += [AlignmentLink(link.source + shift[0], link.target + shift[1], link.weight) for link in part.links]
        source_tokens += part.source_tokens
        tokens += part.tokens
    notices = tuple(notice for part in done for notice in part.notices)
    return Translation(n_best, tuple(source_tokens), tuple(tokens), tuple(links) if alignment else None, notices)

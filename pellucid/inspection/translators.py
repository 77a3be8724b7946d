"""A look at a translator: what it reads, what it writes, and all numbers on the way."""

from collections.abc import Sequence

from pellucid.corpus.counts import counted
from pellucid.errors import UserError
from pellucid.evaluation.scoring import encode_pair
from pellucid.generation.beam import beam_search
from pellucid.generation.translate import Translator
from pellucid.inspection.labelled import LabelledArray
from pellucid.inspection.look import Look, Looks
from pellucid.inspection.record import Recording, Run, record
from pellucid.inspection.recorded import Subject, Written, labelled_rows
from pellucid.inspection.steps import record_steps, stitched

__all__ = ["look", "look_by_step", "read", "subject_of"]


def subject_of(translator: Translator) -> Subject:
    """Return the model of a translator and what its ids stand for."""
    return Subject(
        translator.model, translator.source_tokenizer, translator.target_tokenizer, translator.alignment_heads
    )


def look(
    translator: Translator,
    text: str | Sequence[str],
    *,
    target: str | Sequence[str] | None = None,
    prefix: str = "",
    what: Sequence[str] | None = None,
) -> Look | Looks:
    """Run a translator over a text, or over several at once, and record its numbers.

    The decoder reads the whole target at once, as in training; `look.check()` compares that with the step-by-step path
    that translates.

    Args:
        translator: any.
        text: what is translated, taken whole.
        target: the translation that the decoder reads; the translator's own unless given. As many as there are texts.
        prefix: how its own translation must begin.
        what: which numbers to record, by names or patterns; all unless given.

    Raises:
        UserError: for a text without tokens, a name that no tap has, or if the numbers do not fit into memory.
    """
    texts = [text] if isinstance(text, str) else list(text)
    targets = [target] * len(texts) if target is None or isinstance(target, str) else list(target)
    if len(targets) != len(texts):
        raise UserError(f"{counted(len(texts), 'text')}, but {counted(len(targets), 'target')}", where="look")
    if not texts:
        raise UserError("there is no text to look at", where="look")
    rows = [read(translator, one, theirs, prefix) for one, theirs in zip(texts, targets, strict=True)]
    subject = subject_of(translator)
    recording = record(translator.model, Run([w.source for w in rows], [w.target for w in rows]), what)
    if isinstance(text, str):
        return labelled_rows(Look, subject, rows, recording)[0]
    return Looks(subject, rows, recording)


def look_by_step(
    translator: Translator, text: str, *, target: str | None = None, what: Sequence[str] | None = None
) -> tuple[Look, list[dict[str, LabelledArray]]]:
    """Run a translator as generation does, token by token on a cache, and record every step.

    Args:
        translator: any.
        text: what is translated.
        target: what is written, token by token; its own translation unless given.
        what: which numbers to record.

    Returns:
        A look stitched together from the steps (a score whose key did not exist yet is NaN), and for each step its own
        numbers by name, with a single query.
    """
    rows = [read(translator, text, target)]
    subject = subject_of(translator)
    steps = record_steps(translator.model, Run([rows[0].source], [rows[0].target]), what)
    lines = {name: "" for step in steps for name in step.arrays}
    whole = labelled_rows(Look, subject, rows, Recording(stitched(steps), lines))[0]
    return whole, [
        {name: _step_of(whole.arrays[name], i) for name in step.arrays if name.startswith(("decoder.", "logits"))}
        for i, step in enumerate(steps)
    ]


def read(translator: Translator, text: str, target: str | None = None, prefix: str = "") -> Written:
    """Return a text and its translation as ids, as the translator itself would read and write them.

    Args:
        translator: any.
        text: taken whole, even where translating would cut it at sentence ends; a note then says so.
        target: the translation; its own unless given.
        prefix: how its own must begin.

    Raises:
        UserError: if the text has no tokens.
    """
    if not isinstance(text, str):
        raise UserError("expected a text or a list of texts", where="look")
    maker = translator.part_maker(translator.config)
    parts = maker.plan(text).parts
    if not text.strip() or not any(part.ids for part in parts):
        raise UserError("there is nothing to translate in the text", where="look", hint="Give it a word at least.")
    symbols = translator.symbols
    notes: tuple[str, ...] = ()
    if len(parts) > 1:
        notes = (f"read whole; translating cuts it into {len(parts)} parts, each translated alone",)
    if target is not None:
        source, wanted = encode_pair(translator, text, target)
        return _written(translator, text, source, wanted[:-1], wanted, target, notes)
    source = list(parts[0].ids) if len(parts) == 1 else [*translator.source_tokenizer.encode(text), symbols.end_id]
    begin = translator.target_tokenizer.encode(prefix) if prefix else []
    ((best, *_),) = beam_search(translator.model, [source], symbols, translator.config, [begin])
    if len(parts) == 1 and parts[0].numbered and not translator.kept(parts[0], best):
        # As in translating: once more, without showing the model the placeholders it lost.
        source = list(maker.part(parts[0].source, numbered=False).ids)
        ((best, *_),) = beam_search(translator.model, [source], symbols, translator.config, [begin])
    if not best.ended:
        notes = (*notes, f"its translation was cut at the longest length, {counted(len(best.ids), 'token')}")
    following = [*best.ids, symbols.end_id] if best.ended else list(best.ids)
    text_of = translator.target_tokenizer.decode(best.ids)
    given = best.ids if best.ended else best.ids[:-1]
    return _written(translator, text, source, given, following, text_of, notes)


def _written(
    translator: Translator,
    text: str,
    source: Sequence[int],
    target: Sequence[int],
    following: Sequence[int],
    target_text: str,
    notes: tuple[str, ...],
) -> Written:
    start = translator.symbols.start_id
    return Written(text, tuple(source), (start, *target), tuple(following), target_text, notes)


def _step_of(array: LabelledArray, step: int) -> LabelledArray:
    """Return the part of a stitched number that one step made: its query, and the keys there were."""
    names = [axis.name for axis in array.axes]
    query = next((names.index(name) for name in ("query", "target") if name in names), None)
    index: list[slice] = [slice(None)] * len(names)
    if query is not None:
        index[query] = slice(step, step + 1)
    if "key" in names and ".self_attention." in array.name:
        index[names.index("key")] = slice(0, step + 1) if query is not None else slice(step, step + 1)
    return array[tuple(index)]

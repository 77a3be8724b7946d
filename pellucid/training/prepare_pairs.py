"""Prepare sentence pairs for training: check, hold out, tokenize, align, and write to disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from pellucid.alignment.fitting import fit_lexicon
from pellucid.alignment.lexicon import Lexicon
from pellucid.corpus.doctor.examination import Examination, examine
from pellucid.corpus.pairs import SentencePair
from pellucid.corpus.splitting import hold_out
from pellucid.errors import UserError
from pellucid.generation.placeholders import protect_pair
from pellucid.plurals import pluralize
from pellucid.storage.files import atomic_folder, write_text
from pellucid.storage.id_store import IdStoreWriter
from pellucid.storage.model_folder import read_json, write_json
from pellucid.tokenizers.model_tokenizers import TokenizerPair, read_tokenizers, write_tokenizers
from pellucid.tokenizers.training import train_tokenizer
from pellucid.training.pair_dataset import PairDataset
from pellucid.training.recipe import TranslatorRecipe
from pellucid.training.request import Log, ignore

__all__ = ["PreparedPairs", "count_ids", "count_tokens", "prepare_pairs", "read_prepared_pairs", "restart_hint"]

COUNT_CHUNK = 1 << 22
"""Chunk size for counting ids: NumPy widens them to 8 bytes, and the whole array might not fit in memory."""


@dataclass(frozen=True)
class PreparedPairs:
    """The training and validation data of a translator.

    Attributes:
        tokenizers: of both languages.
        train, valid: ids on disk.
        valid_text: the validation pairs as text, in the order of `valid`.
        lexicon: lexicon of the statistical aligner, if the recipe uses one.
        report: the doctor's report, and statistics of the preparation.
    """

    tokenizers: TokenizerPair
    train: PairDataset
    valid: PairDataset
    valid_text: list[tuple[str, str]]
    lexicon: Lexicon | None
    report: dict[str, Any]


def prepare_pairs(
    sources: Sequence[str | Path],
    folder: Path,
    recipe: TranslatorRecipe,
    *,
    valid: Sequence[str | Path] = (),
    languages: tuple[str | None, str | None] = (None, None),
    tokenizers: TokenizerPair | None = None,
    log: Log = ignore,
) -> None:
    """Check the text, hold out validation pairs, train tokenizers, and write ids and lexicon to `folder`.

    Args:
        folder: output folder; nothing is written if anything fails.
        valid: files with validation pairs; by default some pairs of `sources` are held out.
        languages: codes of source and target, where known.
        tokenizers: of the model to start from; by default new ones are trained.

    Raises:
        UserError: if the doctor finds errors in the text, or too little of it is left.
    """
    log("Examining the text …")
    examined = examine(
        sources,
        source_lang=languages[0],
        target_lang=languages[1],
        options=recipe.data,
        valid=valid,
        in_training=True,
    )
    for line in examined.report.summary_lines(shown=0):
        log(line)
    _reject_unusable_text(examined, sources)
    train_pairs, valid_pairs, split = _split(examined, valid, languages, recipe)
    report = {**examined.report.as_dict(), "languages": list(examined.report.languages), "validation": split}
    log(f"{pluralize(split['training'], 'pair')} for training, {split['pairs']:,} for validation ({split['how']})")
    with atomic_folder(folder, replace=True) as temporary:
        if tokenizers is None:
            log(f"Training the tokenizer ({recipe.tokenizer.kind}) …")
            tokenizers = _train_tokenizers(train_pairs, recipe)
        write_tokenizers(temporary, tokenizers)
        report["pieces"] = {"source": tokenizers.source.vocab_size, "target": tokenizers.target.vocab_size}
        limit = recipe.training.max_tokens
        written = _write_ids(train_pairs(), temporary / "train", tokenizers, limit)
        if not len(PairDataset(temporary / "train", tokenizers)):
            raise UserError(
                f"no pair is left to train on: every pair has a side of more than {limit} tokens",
                where=[str(source) for source in sources],
                hint="Raise --training.max_tokens, or shorten the lines.",
            )
        report |= {"too_many_tokens": written.dropped, "with_placeholders": written.with_placeholders}
        split |= _write_validation(valid_pairs, temporary, tokenizers, recipe)
        if recipe.initialise.from_lexicon or recipe.training.guided_weight > 0:
            log("Aligning words …")
            report["aligner"] = _fit_lexicon(temporary, tokenizers, recipe)
        write_json(temporary / "report.json", report)
    if dropped := split["too_many_tokens"]:
        limit_of_model = f"model.learned_positions {recipe.model.learned_positions}"
        log(f"{pluralize(dropped, 'validation pair')} dropped: longer than {limit_of_model}")
    if dropped := written.dropped:
        log(f"{pluralize(dropped, 'pair')} dropped: longer than training.max_tokens {limit}")


def read_prepared_pairs(folder: Path, recipe: TranslatorRecipe) -> PreparedPairs:
    """Read what `prepare_pairs` wrote to `folder`.

    Raises:
        UserError: if a file is missing or damaged.
    """
    tokenizers = read_tokenizers(folder)
    lexicon = folder / "lexicon.safetensors"
    train = PairDataset(folder / "train", tokenizers, recipe.tokenizer.dropout, recipe.training.seed)
    valid = PairDataset(folder / "valid", tokenizers)
    try:
        with (folder / "valid.jsonl").open(encoding="utf-8") as lines:
            valid_text = [(source, target) for source, target in map(json.loads, lines)]
    except (OSError, ValueError, TypeError) as error:
        raise UserError(
            f"cannot read the prepared validation text: {error}",
            where=str(folder / "valid.jsonl"),
            hint=restart_hint(folder),
        ) from error
    _check_whole(folder, train, None)
    _check_whole(folder, valid, len(valid_text))
    if recipe.training.guided_weight > 0 and not lexicon.exists():
        raise UserError("the lexicon that guides attention is missing", where=str(lexicon), hint=restart_hint(folder))
    return PreparedPairs(
        tokenizers,
        train,
        valid,
        valid_text,
        Lexicon.load(lexicon) if lexicon.exists() else None,
        read_json(folder / "report.json"),
    )


def _check_whole(folder: Path, pairs: PairDataset, expected: int | None) -> None:
    """Open the ids of both sides now rather than in the middle of the run, and check that their lengths agree."""
    try:
        source, target = len(pairs.source), len(pairs.target)
    except UserError as error:
        raise UserError(error.what, where=error.where, hint=restart_hint(folder)) from error
    expected = source if expected is None else expected
    for side, count in (("source", source), ("target", target)):
        if count != expected:
            raise UserError(
                f"the prepared text is damaged: expected {pluralize(expected, 'sequence')}, found {count:,}",
                where=str(pairs.folder / side),
                hint=restart_hint(folder),
            )


def restart_hint(folder: Path) -> str:
    """Hint for damaged ids: only a new run prepares them again from the text."""
    return (
        f"Restore {folder} from an intact copy. Otherwise start over with --overwrite, or train in another folder with "
        f"`--from {folder.parent.parent}` to keep the weights."
    )


def _reject_unusable_text(examined: Examination, sources: Sequence[str | Path]) -> None:
    errors = examined.report.errors
    if errors:
        first = errors[0]
        names = " ".join(str(source) for source in sources)
        raise UserError(
            f"training refused: {first.message}",
            where=[f"{problem.file}:{problem.line} {problem.check}" for problem in errors[:5]],
            hint=f"Fix the files, or drop the affected lines with `pellucid doctor {names} --fix clean.tsv`.",
        )


def _split(
    examined: Examination,
    valid: Sequence[str | Path],
    languages: tuple[str | None, str | None],
    recipe: TranslatorRecipe,
) -> tuple[Callable[[], Iterator[SentencePair]], list[SentencePair], dict[str, Any]]:
    """Split into a stream of training pairs, the validation pairs, and a report on the split."""
    if valid:
        checked = examine(valid, source_lang=languages[0], target_lang=languages[1], options=recipe.data)
        _reject_unusable_text(checked, valid)
        pairs = list(checked.pairs())
        left_out = checked.report.pairs - len(pairs)
        report = {"how": "given", "files": [str(file) for file in valid], "pairs": len(pairs), "left_out": left_out}
        return examined.pairs, pairs, {**report, "training": examined.report.usable}
    held = hold_out(examined.pairs, examined.report.usable)
    report = {"how": "held out by a hash of the text", "pairs": len(held.valid), "training": held.training}
    return held.training_pairs, list(held.valid), report


def _train_tokenizers(pairs: Callable[[], Iterator[SentencePair]], recipe: TranslatorRecipe) -> TokenizerPair:
    if recipe.tokenizer.joint:
        joint = train_tokenizer((side for pair in pairs() for side in (pair.source, pair.target)), recipe.tokenizer)
        return TokenizerPair(joint, joint)
    return TokenizerPair(
        train_tokenizer((pair.source for pair in pairs()), recipe.tokenizer),
        train_tokenizer((pair.target for pair in pairs()), recipe.tokenizer),
    )


class _Written(NamedTuple):
    """The number of pairs that were dropped as too long, and of those that contain placeholders."""

    dropped: int
    with_placeholders: int


def _write_ids(
    pairs: Iterator[SentencePair], folder: Path, tokenizers: TokenizerPair, max_tokens: int | None
) -> _Written:
    """Write the ids of pairs, each with its end token, except pairs of more than `max_tokens`."""
    folder.mkdir()
    dropped = with_placeholders = 0
    with IdStoreWriter(folder / "source") as source, IdStoreWriter(folder / "target") as target:
        for pair in pairs:
            ids = _ids(pair, tokenizers)
            if max_tokens is not None and max(len(ids.source), len(ids.target)) > max_tokens:
                dropped += 1
                continue
            with_placeholders += ids.with_placeholders
            source.append(ids.source)
            target.append(ids.target)
        source.close()
        target.close()
    return _Written(dropped, with_placeholders)


def _write_validation(
    pairs: Sequence[SentencePair], folder: Path, tokenizers: TokenizerPair, recipe: TranslatorRecipe
) -> dict[str, int]:
    """Write the validation pairs that fit the model's learned positions; return the numbers kept and dropped.

    `training.max_tokens` does not apply: validation also measures pairs that are longer than those of training.
    """
    learned = recipe.model.positions == "learned"
    limit = recipe.model.learned_positions
    kept = [pair for pair in pairs if not learned or max(map(len, _ids(pair, tokenizers)[:2])) <= limit]
    if pairs and not kept:
        raise UserError(
            f"no validation pair is left: every pair has a side of more than {limit} tokens",
            where=pairs[0].source_location.file,
            hint="Raise --model.learned_positions, choose other --model.positions, or pass shorter validation pairs.",
        )
    _write_ids(iter(kept), folder / "valid", tokenizers, None)
    text = (json.dumps([pair.source, pair.target], ensure_ascii=False) + "\n" for pair in kept)
    write_text(folder / "valid.jsonl", "".join(text))
    return {"pairs": len(kept), "too_many_tokens": len(pairs) - len(kept)}


class _Ids(NamedTuple):
    """A pair as ids, each side with its end token, and whether it contains placeholders."""

    source: list[int]
    target: list[int]
    with_placeholders: bool


def _ids(pair: SentencePair, tokenizers: TokenizerPair) -> _Ids:
    """Encode a pair; placeholders replace its protected spans if both sides have the same ones."""
    source, target = tokenizers.source, tokenizers.target
    kept = protect_pair(pair.source, pair.target)
    if kept is None or len(kept[0].values) > len(source.placeholder_ids):
        return _Ids(
            [*source.encode_segments([pair.source]), source.end_id],
            [*target.encode_segments([pair.target]), target.end_id],
            False,
        )
    return _Ids(
        [*source.encode_segments(kept[0].segments), source.end_id],
        [*target.encode_segments(kept[1].segments), target.end_id],
        any(isinstance(segment, int) for segment in kept[0].segments),
    )


def _fit_lexicon(folder: Path, tokenizers: TokenizerPair, recipe: TranslatorRecipe) -> dict[str, Any]:
    pairs = PairDataset(folder / "train", tokenizers)
    settings = recipe.aligner
    lexicon = fit_lexicon(
        pairs.source,
        pairs.target,
        tokenizers.source.vocab_size,
        tokenizers.target.vocab_size,
        settings.iterations,
        settings.diagonal_tension,
        settings.null_probability,
    )
    lexicon.save(folder / "lexicon.safetensors")
    fit = lexicon.report
    return {"pairs": fit.used, "entries": len(lexicon.columns), "log_likelihoods": list(fit.log_likelihoods)}


def count_tokens(pairs: PairDataset) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Count the occurrences of each id on the source and on the target side."""
    source = count_ids(pairs.source.ids, pairs.tokenizers.source.vocab_size)
    return source, count_ids(pairs.target.ids, pairs.tokenizers.target.vocab_size)


def count_ids(ids: numpy.ndarray, vocab_size: int) -> numpy.ndarray:
    """Count the occurrences of each id."""
    counts = numpy.zeros(vocab_size)
    for start in range(0, len(ids), COUNT_CHUNK):
        counts += numpy.bincount(ids[start : start + COUNT_CHUNK], minlength=vocab_size)
    return counts

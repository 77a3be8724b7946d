"""`pellucid align`: align the words of parallel text, learning from the text alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pellucid.alignment.aligner import IndexedPairs, WordAligner, fit_aligner
from pellucid.alignment.lexicon import Link
from pellucid.alignment.symmetrisation import Symmetrisation
from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, ShownJsonSwitch
from pellucid.cli.inputs import PairFiles
from pellucid.corpus.reading import read_valid_pairs
from pellucid.corpus.words import split_words
from pellucid.errors import UsageError, UserError
from pellucid.plurals import pluralize

__all__ = ["AlignOptions", "align"]

_CHUNK = 500  # lines written at once


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """What to align, and how."""

    source_lang: str | None = None
    """Code of the source language, for files with several languages."""

    target_lang: str | None = None
    """Code of the target language."""

    symmetrise: Symmetrisation = "grow-diag-final-and"
    """How to combine the two directions. intersection is the most precise, union has the most links; forward (a source
    word for each target word) and backward are one direction alone."""

    iterations: int = 5
    """Iterations of expectation maximisation."""

    tension: float = 6.0
    """How strongly to prefer links near the diagonal, from 0 (not at all) to 60."""


DEFAULT_OPTIONS = AlignOptions()


def align(
    *sources: PairFiles,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    lexicon: Path | None = None,
    as_json: ShownJsonSwitch = False,
    options: AlignOptions = DEFAULT_OPTIONS,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Align the words of parallel text.

    Each pair gets a line of links, as in 0-0 1-2 2-1: SOURCE-TARGET, word positions counted from 0. Words are runs of
    letters or digits and single punctuation marks, ignoring case; in scripts without spaces (Chinese, Japanese, Thai,
    …) single characters. --json lists the words. A pair with a blank side gets an empty line, so that the output stays
    in step with the input.

    Args:
        output: Write the alignment to this file instead of stdout.
        lexicon: Write word translations to this file as tab-separated lines: source word, target word,
            p(target | source), p(source | target); most frequent source words first.
        as_json: Print one JSON object: tokens (words or characters, for each side), symmetrisation, pairs, blank,
            log_likelihood (nats per word, for each direction) and alignments (source, target, links).
    """
    _check(sources, (output, lexicon), options)
    pairs = _read(sources, options)
    aligner = _fit(pairs, sources, options)
    if lexicon is not None:
        words = aligner.translations()
        _write(lexicon, (f"{w.source}\t{w.target}\t{w.probability:.4f}\t{w.reverse:.4f}" for w in words))
    links = _links(aligner, options.symmetrise)
    lines = _json_lines(sources, aligner, links, options) if as_json else map(_format_links, links)
    _write(output, lines)


def _check(sources: Sequence[Path], outputs: Sequence[Path | None], options: AlignOptions) -> None:
    if options.iterations < 1:
        raise UsageError(
            f"expected at least one iteration, got {options.iterations}", where="--iterations", hint="The default is 5."
        )
    if not 0 <= options.tension <= 60:
        raise UsageError(
            f"expected a tension from 0 to 60, got {options.tension}", where="--tension", hint="The default is 6."
        )
    given = {path.resolve() for path in sources}
    for path in outputs:
        if path is not None and path.resolve() in given:
            raise UsageError(f"{path} is both input and output", where=str(path), hint="Name another output file.")


def _read(sources: Sequence[Path], options: AlignOptions) -> IndexedPairs:
    pairs = IndexedPairs()
    with console.progress("Reading", unit="pairs") as progress:
        for pair in read_valid_pairs(sources, options.source_lang, options.target_lang):
            pairs.append(pair.source, pair.target)
            progress.advance()
    return pairs


def _fit(pairs: IndexedPairs, sources: Sequence[Path], options: AlignOptions) -> WordAligner:
    with console.progress("Learning", 2 * options.iterations, "iterations") as progress:
        try:
            aligner = fit_aligner(
                pairs,
                iterations=options.iterations,
                diagonal_tension=options.tension,
                on_progress=lambda step: progress.advance(note=f"{step.log_likelihood:.3f} nats per word"),
            )
        except UserError as error:
            raise UserError(error.what, where=[str(path) for path in sources], hint=error.hint) from error
    report = aligner.forward.report
    console.log(f"{pluralize(report.pairs, 'pair')}; {pairs.source.unit} to {pairs.target.unit}")
    for what, count, outcome in (
        ("with a blank side", report.blank, "their lines are empty"),
        ("too long to learn from", report.long, "still aligned"),
        ("not learned from, spread evenly over the text, to fit in memory", report.sampled, "still aligned"),
    ):
        if count:
            console.log(f"pairs {what}: {count:,} ({outcome})")
    return aligner


def _links(aligner: WordAligner, symmetrise: Symmetrisation) -> Iterator[list[Link]]:
    with console.progress("Aligning", len(aligner.pairs), "pairs") as progress:
        for links in aligner.align(symmetrise):
            yield links
            progress.advance()


def _format_links(links: Sequence[Link]) -> str:
    return " ".join(f"{i}-{j}" for i, j in links)


def _json_lines(
    sources: Sequence[Path], aligner: WordAligner, links: Iterator[list[Link]], options: AlignOptions
) -> Iterator[str]:
    """Yield the lines of one JSON object, one line per alignment; the words are read from the files again."""
    pairs = aligner.pairs
    head = {
        "tokens": {"source": pairs.source.unit, "target": pairs.target.unit},
        "symmetrisation": options.symmetrise,
        "pairs": len(pairs),
        "blank": aligner.forward.report.blank,
        "log_likelihood": {
            "forward": aligner.forward.report.log_likelihoods[-1],
            "backward": aligner.backward.report.log_likelihoods[-1],
        },
    }
    yield console.format_json(head)[:-1] + ', "alignments": ['
    again = read_valid_pairs(sources, options.source_lang, options.target_lang)
    for number, pair_links in enumerate(links, 1):
        pair = next(again, None)
        if pair is None:
            raise UserError(
                "the text became shorter while it was aligned",
                where=[str(path) for path in sources],
                hint="Keep the files unchanged: --json reads them twice.",
            )
        alignment = {"source": split_words(pair.source), "target": split_words(pair.target), "links": pair_links}
        yield console.format_json(alignment) + ("," if number < len(pairs) else "")
    yield "]}"


def _write(path: Path | None, lines: Iterator[str]) -> None:
    with console.output(path) as write:
        while chunk := list(islice(lines, _CHUNK)):
            write("\n".join(chunk))

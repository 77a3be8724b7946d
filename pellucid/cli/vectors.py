"""`pellucid vectors`: query word vectors and convert their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags, ShownJsonSwitch, ShownSwitch
from pellucid.cli.vector_files import (
    DEFAULT_FILE,
    FileOptions,
    Number,
    Words,
    escape_field,
    open_vectors,
    output_format,
    split_pair,
)
from pellucid.errors import UsageError
from pellucid.word_vectors.files.formats import Format

if TYPE_CHECKING:
    from pellucid.word_vectors import KeyedVectors, Neighbour

__all__ = ["QueryFlags", "analogy", "axis", "bias", "convert", "drift", "odd_one_out", "similar"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class QueryFlags:
    """Which words can be answers."""

    number: Number = 10
    """Number of answers."""

    restrict: int | None = None
    """Search only this many of the most frequent words."""

    include_query: ShownSwitch = False
    """Allow the query words as answers."""


DEFAULT_SEARCH = QueryFlags()


def similar(
    vectors: Path,
    /,
    *words: str,
    together: ShownSwitch = False,
    as_json: ShownJsonSwitch = False,
    search: QueryFlags = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find the words most similar to each word given.

    Prints one line per answer, the highest cosine first: word and cosine. With several words, each line starts with the
    query word.

    Args:
        vectors: Folder or file of word vectors.
        words: Query words.
        together: Query the mean of all words instead of each word.
        as_json: Print one JSON object: for each query a list of words and scores.
    """
    if not words:
        raise UsageError(
            "no word given", where="pellucid vectors similar", hint="Name one or more words after the vectors."
        )
    opened = open_vectors(vectors, file)
    queries: list[str | Sequence[str]] = [list(words)] if together else list(words)
    found = opened.similar_batch(
        queries, search.number, exclude_query=not search.include_query, restrict=search.restrict
    )
    names = [" ".join(words)] if together else list(words)
    if as_json:
        console.data_json({name: _records(one) for name, one in zip(names, found, strict=True)})
        return
    for name, neighbours in zip(names, found, strict=True):
        _show(neighbours, [name] if len(names) > 1 else [])


def analogy(
    vectors: Path,
    a: str,
    b: str,
    c: str,
    /,
    *,
    method: Literal["3CosAdd", "3CosMul"] = "3CosAdd",
    as_json: ShownJsonSwitch = False,
    search: QueryFlags = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Solve an analogy: a is to b as c is to which word?

    For example `pellucid vectors analogy VECTORS man king woman`. Prints one line per answer, best first.

    Args:
        vectors: Folder or file of word vectors.
        a: First word of the given pair: man.
        b: Second word of the given pair: king.
        c: First word of the pair to complete: woman.
        method: Scoring formula: 3CosAdd is the cosine with b − a + c, 3CosMul compares the three cosines by ratio.
        as_json: Print one JSON object: question, method, answers (word and score).
    """
    from pellucid.word_vectors.analogies import solve_analogies

    (found,) = solve_analogies(
        open_vectors(vectors, file),
        [(a, b, c)],
        search.number,
        method=method,
        exclude_query=not search.include_query,
        restrict=search.restrict,
    )
    if as_json:
        console.data_json({"question": [a, b, c], "method": method, "answers": _records(found)})
    else:
        _show(found)


def odd_one_out(
    vectors: Path,
    /,
    *words: str,
    as_json: ShownJsonSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find the word that does not belong.

    Prints one line per word, the odd one first: word and cosine to the mean of all.

    Args:
        vectors: Folder or file of word vectors.
        words: Three or more words.
        as_json: Print one JSON object: odd, words (word and score, the odd one first).
    """
    from pellucid.word_vectors.analogies import rank_by_agreement

    found = rank_by_agreement(open_vectors(vectors, file), words)[::-1]
    if as_json:
        console.data_json({"odd": found[0].word, "words": _records(found)})
    else:
        _show(found)


def axis(
    vectors: Path,
    /,
    *words: str,
    left: Words = None,
    right: Words = None,
    as_json: ShownJsonSwitch = False,
    search: QueryFlags = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Place words on the axis between two groups of words.

    For example `pellucid vectors axis VECTORS nurse soldier --left man he --right woman she`. Prints one line per word,
    from left to right: word and cosine with the axis, negative to the left. Without words, prints the words furthest to
    both sides.

    Args:
        vectors: Folder or file of word vectors.
        words: Words to place.
        left: Words at the left end.
        right: Words at the right end.
        as_json: Print one JSON object: left, right, positions (word and score), from left to right.
    """
    if not left or not right:
        raise UsageError(
            "an axis needs two ends", where="pellucid vectors axis", hint="Pass words to --left and --right."
        )
    from pellucid.word_vectors.axes import build_axis

    built = build_axis(open_vectors(vectors, file), left, right)
    if words:
        found = built.positions(words)
    else:
        ends = built.extremes(search.number, exclude_query=not search.include_query, restrict=search.restrict)
        found = [*ends[0], *ends[1][::-1]]
    if as_json:
        console.data_json({"left": left, "right": right, "positions": _records(found)})
    else:
        console.log(f"−: {', '.join(left)}; +: {', '.join(right)}")
        _show(found)


def bias(
    vectors: Path,
    /,
    *words: str,
    x: Words = None,
    y: Words = None,
    a: Words = None,
    b: Words = None,
    pairs: Words = None,
    skip_unknown: ShownSwitch = False,
    permutations: int = 100_000,
    seed: int = 1,
    as_json: ShownJsonSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Measure bias with WEAT or RIPA.

    WEAT takes --x --y --a --b, RIPA words and --pairs. WEAT tests whether the words x are closer to a than to b,
    compared with the words y: effect size (−2 to 2) and p from a permutation test. RIPA scores words along the relation
    of pairs such as man:woman, positive towards the pairs' first words.

    Args:
        vectors: Folder or file of word vectors.
        words: Words to score along the pairs (RIPA).
        x: First group of target words, such as rose tulip.
        y: Second group of target words, such as wasp flea.
        a: First group of attribute words, such as love peace.
        b: Second group of attribute words, such as hatred war.
        pairs: Pairs that define the relation, such as man:woman he:she.
        skip_unknown: Ignore words of WEAT's groups that are not in the vocabulary, with a warning.
        permutations: Number of splits in the permutation test; all splits are used if there are fewer.
        seed: Seed of the sampled splits.
        as_json: Print one JSON object with the key weat or ripa.
    """
    where = "pellucid vectors bias"
    groups = (x, y, a, b)
    if pairs is None and any(group is None for group in groups):
        raise UsageError(
            "neither WEAT nor RIPA is specified",
            where=where,
            hint="Pass four groups of words, --x --y --a --b (WEAT), or words and --pairs (RIPA).",
        )
    if pairs is not None:
        if any(group is not None for group in groups):
            raise UsageError(
                "--pairs cannot be combined with --x --y --a --b", where=where, hint="Run WEAT and RIPA separately."
            )
        if not words:
            raise UsageError("no words to score", where=where, hint="Name words after the vectors.")
        _ripa(open_vectors(vectors, file), words, pairs, as_json)
        return
    if words:
        raise UsageError(f"unexpected word {words[0]}", where=where, hint="WEAT takes groups only.")
    from pellucid.word_vectors.bias import weat

    found = weat(
        open_vectors(vectors, file),
        *(group or [] for group in groups),
        permutations=permutations,
        seed=seed,
        skip_unknown=skip_unknown,
    )
    if found.skipped:
        console.warn(f"ignored, not in the vocabulary: {', '.join(found.skipped)}")
    if as_json:
        console.data_json({"weat": found.as_dict()})
        return
    console.log(f"scores: + is closer to {', '.join(a or [])}, − to {', '.join(b or [])}")
    how = f"all {found.splits:,} splits" if found.exact else f"{found.splits:,} sampled splits"
    console.data(f"WEAT effect size {found.effect_size:.3f}, p = {found.p_value:.4g} ({how})")
    _show(found.scores)


def drift(
    before: Path,
    after: Path,
    /,
    *words: str,
    number: Number = 20,
    anchors: Path | None = None,
    peers: int = 1000,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: ShownSwitch = False,
    as_json: ShownJsonSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Measure how far words have moved between two sets of vectors.

    Rotates the earlier space onto the later one (orthogonal Procrustes) and prints one line per word: word, change and
    p. Change is 1 − cosine after the rotation; p is the share of words of similar frequency whose noise would have
    moved the word at least as far. The words with the smallest p come first. Among thousands of words some have a small
    p by chance: of n words about n · p have one below p.

    Args:
        before: Folder or file of the earlier vectors.
        after: Folder or file of the later vectors.
        words: Words to report; those with the smallest p by default.
        number: Number of words to report.
        anchors: A text file of words to fit the rotation on, one per line; all shared words by default.
        peers: Number of words of similar frequency that are compared with each other.
        output: Folder or file for the rotated earlier vectors; the format follows from the suffix, as in `convert`.
        overwrite: Replace existing word vectors in the output folder, or the file.
        as_json: Print one JSON object: shared, anchors, peers, mean_change, words (word, change, p_value).
    """
    from pellucid.word_vectors.drift import measure_drift
    from pellucid.word_vectors.files import write_vectors

    if number < 1:
        raise UsageError(
            f"expected a positive number of words, got {number}",
            where="--number",
            hint="Pass a number from 1 on; the default is 20.",
        )
    form = None if output is None else output_format(output, None, overwrite)
    earlier, later = open_vectors(before, file), open_vectors(after, file)
    with console.progress("Aligning"):
        found = measure_drift(earlier, later, anchors=None if anchors is None else _read_words(anchors), peers=peers)
    reported = [found.of(word) for word in words] if words else found.most_drifted(number)
    count = len(found.words)
    console.log(
        f"{count:,} shared words, mean change {found.change.mean():.3f}; by chance about {count / 1000:,.1f} of them "
        "have p below 0.001"
    )
    if output is not None:
        write_vectors(found.rotate(earlier), output, form)
    if as_json:
        console.data_json({**found.as_dict(0), "words": [one._asdict() for one in reported]})
        return
    console.log("word, change, p:")
    for one in reported:
        console.data(f"{escape_field(one.word)}\t{one.change:.4f}\t{one.p_value:.4g}")


def convert(
    vectors: Path,
    output: Path,
    /,
    *,
    to: Format | None = None,
    to_float16: ShownSwitch = False,
    escape: ShownSwitch = False,
    overwrite: ShownSwitch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    r"""Convert word vectors to another file format.

    Args:
        vectors: Folder or file of word vectors.
        output: Folder for the native format, file for the others; compressed if its name ends in .gz, .xz or .zst.
        to: Format to write. native is a folder that opens instantly and holds any word, counts and output vectors. By
            default from the suffix: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else native.
        to_float16: Write float16 numbers (word2vec-binary; gensim cannot read them).
        escape: Write spaces and line breaks in words as \s, \n …, where the format cannot hold them.
        overwrite: Replace existing word vectors in the output folder, or the file.
    """
    from pellucid.word_vectors.files import write_vectors

    form = output_format(output, to, overwrite)
    read = open_vectors(vectors, file)
    if to_float16 and form == "word2vec-binary":
        console.warn("gensim and word2vec cannot read float16 files; Pellucid can")
    with console.progress("Writing"):
        write_vectors(read, output, form, float16=to_float16, escape=escape)
    left_out = [
        name
        for name, value in (
            ("output vectors", read.output_vectors),
            ("counts", read.counts),
            ("metadata", read.metadata or None),
        )
        if value is not None and form != "native"
    ]
    if left_out:
        console.log(f"{form} holds words and input vectors only; dropped: {', '.join(left_out)}")
    console.log(f"{output}: {len(read):,} words, dimension {read.dim}")


def _ripa(vectors: KeyedVectors, words: Sequence[str], pairs: Sequence[str], as_json: bool) -> None:
    from pellucid.word_vectors.bias import ripa

    split = [split_pair(pair) for pair in pairs]
    found = ripa(vectors, words, split)
    if as_json:
        console.data_json({"ripa": found.as_dict()})
        return
    firsts, seconds = (", ".join(pair[side] for pair in split) for side in (0, 1))
    console.log(f"the relation explains {found.explained:.0%} of the pairs' differences; +: {firsts}; −: {seconds}")
    _show(found.scores)


def _read_words(file: Path) -> list[str]:
    from pellucid.corpus.text_files import read_lines

    words = [line.decode("utf-8", errors="replace").removeprefix("\ufeff").strip() for _, line in read_lines(file)]
    return [word for word in words if word]


def _records(found: Iterable[Neighbour]) -> list[dict[str, object]]:
    return [one._asdict() for one in found]


def _show(found: Iterable[Neighbour], before: Sequence[str] = ()) -> None:
    for word, score in found:
        console.data("\t".join([*map(escape_field, [*before, word]), f"{score:.4f}"]))

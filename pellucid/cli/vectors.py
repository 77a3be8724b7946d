"""`pellucid vectors`: ask word vectors, and turn one form of their files into another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.flags import DEFAULT_FLAGS, Flags
from pellucid.cli.vector_files import DEFAULT_FILE, FileOptions, Form, check_output, escape_field, open_vectors
from pellucid.errors import UsageError

if TYPE_CHECKING:
    from pellucid.word_vectors import Neighbour, WordVectors

__all__ = ["SearchOptions", "align", "analogy", "axis", "bias", "convert", "odd_one_out", "similar"]

_Json = Annotated[bool, Parameter(name="--json", negative="")]
_Switch = Annotated[bool, Parameter(negative="")]
_Words = Annotated[list[str] | None, Parameter(negative="", consume_multiple=True)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Which words may be the answer."""

    number: Annotated[int, Parameter(name=["--number", "-n"])] = 10
    """How many answers."""

    restrict: int | None = None
    """Look among the most frequent words only, so many."""

    include_query: _Switch = False
    """Let words of the question be answers, too."""


DEFAULT_SEARCH = SearchOptions()


def similar(
    vectors: Path,
    /,
    *words: str,
    together: _Switch = False,
    as_json: _Json = False,
    search: SearchOptions = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find the words of highest cosine with each word given: a line an answer, word and cosine.

    For several words, the word asked about stands first in the line.

    Args:
        vectors: Folder or file of word vectors.
        words: Words to ask about.
        together: Ask about the mean of all words instead of each.
        as_json: Print one JSON object: for each word (or for all, joined by spaces) a list of word and score.
    """
    if not words:
        raise UsageError("no word was given", where="pellucid vectors similar")
    asked = open_vectors(vectors, file)
    queries: list[str | Sequence[str]] = [list(words)] if together else list(words)
    found = asked.similar_batch(
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
    as_json: _Json = False,
    search: SearchOptions = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find the word that is to C as B is to A, as in `analogy vectors man king woman`: a line an answer, best first.

    Args:
        vectors: Folder or file of word vectors.
        a: The word that b belongs to: man.
        b: What belongs to a: king.
        c: The word whose counterpart is sought: woman.
        method: How a word is scored: 3CosAdd is the cosine with b − a + c, 3CosMul weighs the three by ratio.
        as_json: Print one JSON object: question, method, answers (word and score).
    """
    found = open_vectors(vectors, file).analogy(
        a, b, c, search.number, method=method, exclude_query=not search.include_query, restrict=search.restrict
    )
    if as_json:
        console.data_json({"question": [a, b, c], "method": method, "answers": _records(found)})
    else:
        _show(found)


def odd_one_out(
    vectors: Path,
    /,
    *words: str,
    as_json: _Json = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Find the word that does not belong: a line a word, the odd one first, with its cosine with the mean of all.

    Args:
        vectors: Folder or file of word vectors.
        words: Three words or more.
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
    left: _Words = None,
    right: _Words = None,
    as_json: _Json = False,
    search: SearchOptions = DEFAULT_SEARCH,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Place words on the axis between two groups, as in `axis vectors nurse soldier --left man he --right woman she`.

    A line a word, from left to right, with its cosine with the axis: negative to the left. Without words, those
    furthest to both sides.

    Args:
        vectors: Folder or file of word vectors.
        words: Words to place.
        left: Words of the left end.
        right: Words of the right end.
        as_json: Print one JSON object: left, right, positions (word and score), from left to right.
    """
    if not left or not right:
        raise UsageError(
            "an axis has two ends", where="pellucid vectors axis", hint="Give words to --left and --right."
        )
    between = open_vectors(vectors, file).axis(left, right)
    if words:
        found = between.positions(words)
    else:
        ends = between.extremes(search.number, exclude_query=not search.include_query, restrict=search.restrict)
        found = [*ends[0], *ends[1][::-1]]
    if as_json:
        console.data_json({"left": left, "right": right, "positions": _records(found)})
    else:
        console.log(f"− is {', '.join(left)}, + is {', '.join(right)}")
        _show(found)


def bias(
    vectors: Path,
    /,
    *words: str,
    x: _Words = None,
    y: _Words = None,
    a: _Words = None,
    b: _Words = None,
    pairs: _Words = None,
    skip_unknown: _Switch = False,
    permutations: int = 100_000,
    seed: int = 1,
    as_json: _Json = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Test whether words lean: WEAT for --x --y --a --b, RIPA for words and --pairs.

    WEAT tells whether the words x lie nearer to a than to b, compared with the words y: effect size (−2 to 2) and p by
    permutation. RIPA scores words along what pairs such as man:woman differ in, positive to the pairs' first words.

    Args:
        vectors: Folder or file of word vectors.
        words: Words to score along the pairs (RIPA).
        x: First group of target words, as rose tulip.
        y: Second group of target words, as wasp flea.
        a: First group of attribute words, as love peace.
        b: Second group of attribute words, as hatred war.
        pairs: Pairs that give the relation, as man:woman he:she.
        skip_unknown: Go on without words of WEAT's groups that are not in the vocabulary, and name them.
        permutations: Splits that p counts, drawn by the seed if there are more.
        seed: Seed of the draws.
        as_json: Print one JSON object with weat or ripa in it.
    """
    groups = (x, y, a, b)
    if pairs is None and any(group is None for group in groups):
        raise UsageError(
            "give four groups of words, --x --y --a --b (WEAT), or words and --pairs (RIPA)",
            where="pellucid vectors bias",
        )
    if pairs is not None:
        if any(group is not None for group in groups):
            raise UsageError("--pairs does not go with --x --y --a --b", where="pellucid vectors bias")
        if not words:
            raise UsageError("no word to score was given", where="pellucid vectors bias")
        _ripa(open_vectors(vectors, file), words, pairs, as_json)
        return
    if words:
        raise UsageError(f"unexpected word {words[0]}", where="pellucid vectors bias", hint="WEAT takes groups only.")
    first, second, one, other = (group or [] for group in groups)
    found = open_vectors(vectors, file).weat(
        first, second, one, other, permutations=permutations, seed=seed, skip_unknown=skip_unknown
    )
    if found.skipped:
        console.warn(f"not in the vocabulary, left out: {', '.join(found.skipped)}")
    if as_json:
        console.data_json({"weat": found.as_dict()})
        return
    console.log(f"the words' scores: + is nearer to {', '.join(one)}, − to {', '.join(other)}")
    how = f"all {found.splits:,} splits" if found.exact else f"{found.splits:,} drawn splits"
    console.data(f"WEAT effect size {found.effect_size:.3f}, p = {found.p_value:.4g} ({how})")
    _show(found.scores)


def align(
    before: Path,
    after: Path,
    /,
    *words: str,
    number: Annotated[int, Parameter(name=["--number", "-n"])] = 20,
    anchors: Path | None = None,
    peers: int = 1000,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: _Switch = False,
    as_json: _Json = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    """Turn one space onto another, as of two decades, and say which words have moved: word, change, p.

    Change is 1 − cosine after the turn (orthogonal Procrustes); p is the share of words about as frequent whose noise
    would have moved the word as far. The words of smallest p come first: those that moved least like their peers. Where
    thousands of words are looked at, some have a small p by chance: of n words about n · p have one below p.

    Args:
        before: Folder or file of the earlier vectors.
        after: Folder or file of the later vectors.
        words: Words to ask about; those of smallest p unless given.
        number: How many words are shown.
        anchors: A text file with the words to fit the turn on, one a line; all shared words unless given.
        peers: How many words, about as frequent, are compared with each other.
        output: Folder or file for the earlier vectors, turned; its form is that of its ending, as in `convert`.
        overwrite: Replace word vectors that stand in the output folder, or the file.
        as_json: Print one JSON object: shared, anchors, peers, mean_change, moved (word, change, p_value).
    """
    if number < 1:
        raise UsageError(f"expected a number of words from 1 on, got {number}", where="--number")
    form = None if output is None else check_output(output, None, overwrite)
    earlier, later = open_vectors(before, file), open_vectors(after, file)
    with console.progress("Aligning"):
        found = earlier.align(later, anchors=None if anchors is None else _words_of(anchors), peers=peers)
    moved = [found.moved(word) for word in words] if words else found.most_drifted(number)
    count = len(found.words)
    console.log(
        f"{count:,} shared words, mean change {found.change.mean():.3f}; by chance alone about {count / 1000:,.1f} of "
        "them would have a p below 0.001"
    )
    if output is not None:
        found.turn(earlier).save(output, form)
    if as_json:
        console.data_json({**found.as_dict(0), "moved": [one._asdict() for one in moved]})
        return
    console.log("word, change, p:")
    for one in moved:
        console.data(f"{escape_field(one.word)}\t{one.change:.4f}\t{one.p_value:.4g}")


def convert(
    vectors: Path,
    output: Path,
    /,
    *,
    to: Form | None = None,
    to_float16: _Switch = False,
    escape: _Switch = False,
    overwrite: _Switch = False,
    file: FileOptions = DEFAULT_FILE,
    flags: Flags = DEFAULT_FLAGS,
) -> None:
    r"""Turn one form of word vectors into another.

    Args:
        vectors: Folder or file of word vectors.
        output: Folder for the native form, a file for the others; packed if its name ends in .gz, .xz or .zst.
        to: The form to write: native is a folder that opens at once and holds any word, counts and output vectors. By
            the output's ending unless given: .txt is word2vec-text, .bin word2vec-binary, .vec fasttext, anything else
            native.
        to_float16: Write two bytes a number (word2vec-binary; not for gensim).
        escape: Write spaces and line ends in words as \s, \n …, where the form cannot hold them.
        overwrite: Replace word vectors that stand in the output folder, or the file.
    """
    form = check_output(output, to, overwrite)
    read = open_vectors(vectors, file)
    if to_float16 and form == "word2vec-binary":
        console.warn("two bytes a number: Pellucid reads it, gensim and word2vec do not")
    with console.progress("Writing"):
        read.save(output, form, float16=to_float16, escape=escape)
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
        console.log(f"{form} holds words and input vectors only; left out: {', '.join(left_out)}")
    console.log(f"{output}: {len(read):,} words, {read.dim} numbers each")


def _ripa(vectors: WordVectors, words: Sequence[str], pairs: Sequence[str], as_json: bool) -> None:
    split = [tuple(pair.split(":")) for pair in pairs]
    wrong = [":".join(pair) for pair in split if len(pair) != 2]
    if wrong:
        raise UsageError(f"expected a pair such as man:woman, got {wrong[0]}", where="--pairs")
    found = vectors.ripa(words, [(one, other) for one, other in split])
    if as_json:
        console.data_json({"ripa": found.as_dict()})
        return
    firsts, seconds = (", ".join(pair[side] for pair in split) for side in (0, 1))
    console.log(f"the relation holds {found.explained:.0%} of what the pairs differ in; + is {firsts}, − is {seconds}")
    _show(found.scores)


def _words_of(file: Path) -> list[str]:
    from pellucid.corpus.text_files import read_lines

    words = [line.decode("utf-8", errors="replace").removeprefix("\ufeff").strip() for _, line in read_lines(file)]
    return [word for word in words if word]


def _records(found: Iterable[Neighbour]) -> list[dict[str, object]]:
    return [one._asdict() for one in found]


def _show(found: Iterable[Neighbour], before: Sequence[str] = ()) -> None:
    for word, score in found:
        console.data("\t".join([*map(escape_field, [*before, word]), f"{score:.4f}"]))

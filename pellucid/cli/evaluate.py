"""`pellucid evaluate`: how good a model is, perhaps beside another: a translator, a language model, word vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.config_flags import given_fields
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags
from pellucid.cli.inputs import DEFAULT_TEXTS, MODEL_FILES_HELP, TextOptions, no_pairs_error, usable_documents
from pellucid.cli.translate import SearchFlags
from pellucid.cli.vector_files import open_vectors
from pellucid.corpus.reading import read_valid_pairs
from pellucid.errors import UsageError, UserError
from pellucid.loading import kind_of
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.evaluation.perplexity import TextLoss
    from pellucid.evaluation.translation_metrics import Comparison
    from pellucid.translator import Translator

__all__ = ["evaluate"]

_VECTOR_FILES_HELP = (
    "For word vectors, files of analogy questions (questions-words.txt) or rated similarity (WordSim-353, SimLex-999)."
)


def evaluate(
    folder: Path,
    /,
    *files: Annotated[Path, Parameter(help=f"{MODEL_FILES_HELP} {_VECTOR_FILES_HELP}")],
    compare: Path | None = None,
    restrict: int = 30_000,
    source_lang: str | None = None,
    target_lang: str | None = None,
    seed: int = 1,
    as_json: JsonSwitch = False,
    search: SearchFlags = None,
    texts: TextOptions = DEFAULT_TEXTS,
    flags: ModelFlags = DEFAULT_MODEL_FLAGS,
) -> None:
    """Evaluate a translator (BLEU, chrF), a language model (perplexity) or word vectors (analogies).

    A translator translates a test set and is scored by sacreBLEU, whose signatures are printed. A language model reads
    texts through windows, whose size and stride are printed.

    Args:
        folder: Folder of the model; for word vectors also a file.
        compare: Folder of a second model; for translators, a paired bootstrap tests whether the two differ.
        restrict: Number of most frequent words among which word vectors answer analogies.
        source_lang: Code of the source language, for files with several; the model's by default.
        target_lang: Code of the target language; it decides how BLEU tokenizes.
        seed: Seed of the bootstrap.
        as_json: Print one JSON object: bleu, chrf, signatures, pairs, target_lang, and compare if requested; for a
            language model loss, perplexity, bits_per_byte, tokens, bytes, documents, context, stride, ends; for word
            vectors analogies and similarity of each file, with coverage.
        search: How to search.
    """
    kind = kind_of(folder)
    if kind == "vectors":
        if compare is not None:
            raise UsageError(
                "--compare is for translators",
                where="--compare",
                hint=f"Measure both word vectors on the same files: `pellucid evaluate {compare} …`.",
            )
        if search is not None:
            raise UsageError(
                "search settings are for translators",
                where="pellucid evaluate",
                hint="Word vectors take --restrict and --json.",
            )
        _evaluate_vectors(folder, files, restrict, as_json)
        return
    if kind == "language-model":
        _evaluate_texts(folder, files, compare, texts, as_json, flags)
        return
    if not files:
        raise no_pairs_error("evaluate")
    from pellucid.evaluation.translation_metrics import compare_systems, score_translations
    from pellucid.translator import Translator

    translator = Translator.load(folder, device=flags.device, precision=flags.precision)
    other = None if compare is None else Translator.load(compare, device=flags.device, precision=flags.precision)
    source_lang = source_lang or translator.source_language
    target_lang = target_lang or translator.target_language
    pairs = [(pair.source, pair.target) for pair in read_valid_pairs(files, source_lang, target_lang)]
    if not pairs:
        raise UserError("there is nothing to score", where=[str(file) for file in files], hint="The files are empty.")
    references = [target for _, target in pairs]
    translations = _translate_all(translator, [source for source, _ in pairs], search)
    scores = score_translations(translations, references, target_lang)
    result: dict[str, Any] = {
        "bleu": scores.bleu,
        "chrf": scores.chrf,
        "signatures": scores.signatures,
        "pairs": len(pairs),
        "target_lang": target_lang,
    }
    compared: dict[str, Comparison] = {}
    if other is not None:
        second = _translate_all(other, [source for source, _ in pairs], search)
        compared = compare_systems(translations, second, references, target_lang, seed=seed)
        result["compare"] = {"model": str(compare), **{name: found._asdict() for name, found in compared.items()}}
    if target_lang is None:
        console.warn(
            "the target language is unknown, so BLEU splits words as for English; say it with --target-lang, "
            "above all if it is Chinese or Japanese"
        )
    if as_json:
        console.data_json(result)
    else:
        _show(result, compared)


def _translate_all(translator: "Translator", sources: list[str], search: SearchFlags) -> list[str]:
    with console.progress("Translating", len(sources), "lines") as bar:
        found = translator.translate(sources, on_progress=bar.advance, **given_fields(search))
    return [one.text for one in found]


def _show(result: dict[str, Any], compared: "dict[str, Comparison]") -> None:
    for name, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        console.data(f"{title} {result[name]:.2f}   {result['signatures'][name]}")
    for name, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        if name in compared:
            found = compared[name]
            low, high = found.interval
            console.data(
                f"{title}: {found.first:.2f} and {found.second:.2f} ({result['compare']['model']}), difference "
                f"{found.second - found.first:+.2f}, 95 % within {low:+.2f} and {high:+.2f}, p = {found.p:.3f}"
            )
    console.log(pluralize(result["pairs"], "pair"))


def _evaluate_texts(
    folder: Path,
    files: Sequence[Path],
    compare: Path | None,
    options: TextOptions,
    as_json: bool,
    flags: ModelFlags,
) -> None:
    """Print how well a model, and perhaps a second one, predicts the documents of the files."""
    if not files:
        raise UsageError("no text was given", where="pellucid evaluate", hint="Name text files or .jsonl files.")
    found = _measure(folder, files, options, flags)
    result: dict[str, Any] = found._asdict()
    other = None if compare is None else _measure(compare, files, options, flags)
    if other is not None:
        result["compare"] = {"model": str(compare), **other._asdict()}
    if as_json:
        console.data_json(result)
        return
    for name, one in ((folder, found), (compare, other)):
        if one is not None:
            place = f"{name}: " if other is not None else ""
            console.data(
                f"{place}loss {one.loss:.4f} nats a token, perplexity {one.perplexity:.3f}, "
                f"{one.bits_per_byte:.4f} bits a byte"
            )
            console.log(_describe(one))
    if other is not None:
        console.log("Of two models with different tokenizers only the bits a byte can be compared.")


def _measure(folder: Path, files: Sequence[Path], options: TextOptions, flags: ModelFlags) -> "TextLoss":
    from pellucid.evaluation.perplexity import measure_texts
    from pellucid.language_model import LanguageModel

    model = LanguageModel.load(folder, device=flags.device, precision=flags.precision)
    with console.progress("Measuring", unit="tokens") as bar:
        documents = usable_documents(files, options)
        return measure_texts(model, documents, stride=options.stride, on_progress=bar.advance)


def _describe(found: "TextLoss") -> str:
    ends = "their ends counted as tokens" if found.ends else "their ends not counted"
    return (
        f"{pluralize(found.documents, 'document')}, {ends}; {pluralize(found.tokens, 'token')}, {found.bytes:,} bytes; "
        f"windows of {found.context:,} tokens, {found.stride:,} apart: beyond the first, each token is predicted from "
        f"{found.context - found.stride + 1:,} to {found.context:,} before it"
    )


def _evaluate_vectors(path: Path, files: Sequence[Path], restrict: int, as_json: bool) -> None:
    """Compute analogy accuracy and similarity correlation, depending on the content of each file."""
    if not files:
        raise UsageError(
            "no test file given",
            where="pellucid evaluate",
            hint="Name files of analogy questions (questions-words.txt) or similarity judgements (SimLex-999).",
        )
    from pellucid.evaluation.analogies import analogy_accuracy, is_analogy_file
    from pellucid.evaluation.word_similarity import similarity_correlation

    vectors = open_vectors(path)
    result: dict[str, list[dict[str, Any]]] = {"analogies": [], "similarity": []}
    for file in files:
        if is_analogy_file(file):
            with console.progress(f"Answering {file.name}"):
                answers = analogy_accuracy(vectors, file, restrict=restrict)
            result["analogies"].append({"file": str(file), **answers.as_dict()})
        else:
            result["similarity"].append({"file": str(file), **similarity_correlation(vectors, file).as_dict()})
    if as_json:
        console.data_json(result)
        return
    for found in result["analogies"]:
        among = min(restrict, len(vectors))
        console.data(f"{found['file']}: analogies among the {among:,} most frequent words")
        groups = [found["total"], found["semantic"], found["syntactic"], *found["sections"]]
        rows = []
        for group in groups:
            shares = [group["accuracy"], group["accuracy_unexcluded"]]
            shown = ["" if share is None else f"{share:.1%}" for share in shares]
            rows.append([group["name"], group["questions"], group["covered"], *shown])
        console.table(["section", "questions", "covered", "accuracy", "accuracy, question words allowed"], rows)
    for found in result["similarity"]:
        correlation = "none" if found["spearman"] is None else f"{found['spearman']:.3f}"
        console.data(
            f"{found['file']}: Spearman {correlation}, {found['covered']:,} of {found['pairs']:,} pairs covered"
        )
        if 2 * found["covered"] < found["pairs"]:
            console.warn(
                f"{found['file']}: most pairs have a word that is not in the vocabulary; the correlation says little"
            )

"""`pellucid evaluate`: how good a model is, perhaps beside another: a translator, a language model, word vectors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pellucid.cli import console
from pellucid.cli.documents import DEFAULT_TEXTS, TextOptions
from pellucid.cli.evaluate_texts import evaluate_texts
from pellucid.cli.flags import DEFAULT_MODEL_FLAGS, JsonSwitch, ModelFlags
from pellucid.cli.pairs import MODEL_FILES_HELP, no_pairs_error
from pellucid.cli.translate import SearchFlags, search_settings
from pellucid.corpus.reading import read_valid_pairs
from pellucid.errors import UsageError, UserError
from pellucid.plurals import pluralize
from pellucid.storage.model_folder import read_config

if TYPE_CHECKING:
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
    if _is_vectors(folder):
        from pellucid.cli.evaluate_vectors import evaluate_vectors

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
        evaluate_vectors(folder, files, restrict, as_json)
        return
    if read_config(folder)["kind"] == "language-model":
        evaluate_texts(folder, files, compare, texts, as_json, flags)
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


def _is_vectors(path: Path) -> bool:
    """Tell whether word vectors stand there: a folder that says so, or a file, since other models are folders."""
    return path.is_file() or ((path / "config.json").is_file() and read_config(path)["kind"] == "vectors")


def _translate_all(translator: "Translator", sources: list[str], search: SearchFlags) -> list[str]:
    with console.progress("Translating", len(sources), "lines") as bar:
        found = translator.translate(sources, on_progress=bar.advance, **search_settings(search))
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

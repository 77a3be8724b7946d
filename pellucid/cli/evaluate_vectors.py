"""`pellucid evaluate` for word vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pellucid.cli import console
from pellucid.cli.vector_files import open_vectors
from pellucid.errors import UsageError

__all__ = ["evaluate_vectors"]


def evaluate_vectors(path: Path, files: Sequence[Path], restrict: int, as_json: bool) -> None:
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
        rows = [
            [
                group["name"],
                group["questions"],
                group["covered"],
                _percent(group["accuracy"]),
                _percent(group["accuracy_unexcluded"]),
            ]
            for group in groups
        ]
        console.table(["section", "questions", "covered", "accuracy", "accuracy, question words allowed"], rows)
    for found in result["similarity"]:
        shown = "none" if found["spearman"] is None else f"{found['spearman']:.3f}"
        console.data(f"{found['file']}: Spearman {shown}, {found['covered']:,} of {found['pairs']:,} pairs covered")
        if 2 * found["covered"] < found["pairs"]:
            console.warn(
                f"{found['file']}: most pairs have a word that is not in the vocabulary; the correlation says little"
            )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"

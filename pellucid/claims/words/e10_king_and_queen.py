"""E10: king − man + woman ≈ queen."""

from pellucid.claims.claim import Effort, Setup, at_least, claim
from pellucid.claims.evidence import Evidence, Figure, MissingData, share_over_seeds
from pellucid.evaluation.analogies import analogy_accuracy
from pellucid.vectors import WordVectors

__all__ = ["CLAIM", "measure"]


def measure(setup: Setup) -> Evidence:
    """Train on the user's text and answer the user's questions, with and without excluding the question words."""
    text, questions = setup.require_file("text.txt"), setup.require_file("analogies.txt")
    found: dict[str, list[float]] = {"excluded": [], "not excluded": []}
    records = []
    for seed in setup.every_seed():
        vectors = WordVectors.train(text, dim=100, epochs=setup.steps, seed=seed)
        scores = analogy_accuracy(vectors, questions, restrict=30_000)
        if not scores.total.covered:
            raise MissingData("no_covered_question", questions=questions, text=text)
        for section in scores.sections:
            if section.covered:
                for kind, value in (("excluded", section.accuracy), ("not excluded", section.accuracy_unexcluded)):
                    records.append({"section": section.name, "question_words": kind, "accuracy": value, "seed": seed})
        found["excluded"].append(scores.total.accuracy or 0.0)
        found["not excluded"].append(scores.total.accuracy_unexcluded or 0.0)
    numbers = {
        "accuracy_excluded": share_over_seeds(found["excluded"]),
        "accuracy_not_excluded": share_over_seeds(found["not excluded"]),
    }
    shown = [record for record in records if record["seed"] == setup.seed]
    return Evidence(numbers, shown, Figure("bar", "section", "accuracy", "question_words"))


CLAIM = claim(
    measure,
    at_least("accuracy_excluded", 0.25, fails_at=0.15),
    outside=(at_least("accuracy_not_excluded", 0.25, fails_at=0.15),),
    effort=Effort(Setup(seeds=3, steps=1), Setup(seeds=3, steps=5)),
)

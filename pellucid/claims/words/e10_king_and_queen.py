"""E10: king − man + woman ≈ queen."""

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.evidence import Evidence, Figure, MissingData, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.user_data import require_user_file
from pellucid.evaluation.word_vectors import analogy_accuracy
from pellucid.word_vectors import WordVectors

__all__ = ["CLAIM", "measure"]


def measure(budget: Budget, seed: int) -> Evidence:
    """Train on the user's text and ask the user's questions, with the words of a question excluded and not."""
    text, questions = require_user_file(budget, "text.txt"), require_user_file(budget, "analogies.txt")
    found: dict[str, list[float]] = {"excluded": [], "not excluded": []}
    records = []
    for number in budget.every_seed(seed):
        vectors = WordVectors.train(text, dim=100, epochs=budget.steps, seed=number)
        scores = analogy_accuracy(vectors, questions, restrict=30_000)
        if not scores.total.covered:
            raise MissingData(
                Text(
                    f"a question in {questions} whose four words all stand in {text} at least five times",
                    f"{questions} 中四个词都在 {text} 出现至少五次的题",
                )
            )
        for section in scores.sections:
            if section.covered:
                for kind, value in (("excluded", section.accuracy), ("not excluded", section.accuracy_unexcluded)):
                    records.append({"section": section.name, "question_words": kind, "accuracy": value, "seed": number})
        found["excluded"].append(scores.total.accuracy or 0.0)
        found["not excluded"].append(scores.total.accuracy_unexcluded or 0.0)
    titles = {
        "section": Text("section", "类别"),
        "accuracy": Text("accuracy", "准确率"),
        "question_words": Text("the three words of a question", "题中三词"),
    }
    numbers = {
        "accuracy_excluded": mean_over_seeds(found["excluded"]),
        "accuracy_not_excluded": mean_over_seeds(found["not excluded"]),
    }
    shown = [record for record in records if record["seed"] == seed]
    return Evidence(numbers, shown, Figure("bar", "section", "accuracy", "question_words", titles))


_OFTEN = Text(
    "a quarter of the questions, among 30,000 words, is far above chance and what “≈” can be taken to mean at least",
    "在三万词中答对四分之一远高于偶然，是“≈”至少应有的意思",
)

CLAIM = Claim(
    id="E10",
    statement=Text("king − man + woman ≈ queen.", "国王 − 男人 + 女人 ≈ 女王。"),
    equation="argmax_w cos(w, king − man + woman)",
    measured=Text(
        "questions of analogy on vectors of the given text (steps: passes): accuracy with the three question words "
        "excluded, "
        "as is the custom, and with nothing excluded; by section, capitals among them",
        "在所给文本的词向量上做类比题（steps 为遍数）：按惯例排除题中三词的准确率，以及什么都不排除的准确率；按类别列"
        "出，含首都类",
    ),
    rule=Rule(
        holds=(at_least("accuracy_excluded", 0.25, _OFTEN, fails_at=0.15),),
        beyond=(at_least("accuracy_not_excluded", 0.25, _OFTEN, fails_at=0.15),),
        condition=Text(
            "the three words of the question may not be the answer; otherwise one of them mostly is the nearest",
            "题中三个词不得作为答案；否则最近的多半就是其中之一",
        ),
    ),
    reading=Text(
        "The sum mostly lies beside king itself, and queen is its nearest neighbour anyway: much of the score is "
        "similarity with the question words taken away (Linzen 2016; Rogers et al. 2017). In vectors of large "
        "collections of news what is left of parallel offsets is strong for grammatical forms and capitals, weak for "
        "most other relations; a text that seldom speaks of capitals gives other figures. A theory of when offsets "
        "are parallel: Ethayarajh et al. (2019), Allen & Hospedales (2019).",
        "和向量多半就在“国王”旁边，而“女王”本来就是它最近的邻居：得分大半来自相似度再扣除题中词（Linzen 2016；Rogers "
        "等 2017）。在大量新闻的词向量里，真正的平行位移在语法形式与首都上很强，在多数其他关系上很弱；少谈首都的文本，"
        "数字就不同。位移何时平行，理论见 Ethayarajh 等（2019）、Allen 与 Hospedales（2019）。",
    ),
    sources=(
        "Mikolov et al. 2013c, Linguistic Regularities",
        "Linzen 2016, Issues in Evaluating Semantic Spaces Using Word Analogies",
        "Ethayarajh et al. 2019, Towards Understanding Linear Word Analogies",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=1), Budget(seeds=3, steps=5)),
)

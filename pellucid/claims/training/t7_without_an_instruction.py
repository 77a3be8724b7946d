"""T7: without an instruction it just continues."""

from functools import partial

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim, Effort
from pellucid.claims.demo_language_model import continued, demo_language_model
from pellucid.claims.evidence import Evidence, Figure, mean_over_seeds
from pellucid.claims.rules import Rule, at_least
from pellucid.claims.texts import SEEDS
from pellucid.demo.instructions import score_instructions

__all__ = ["CLAIM", "measure"]

_SHORT = 4  # characters of a head word, at most


def measure(budget: Budget, seed: int, instruction: str = "zh→en: {}\n") -> Evidence:
    """Give the same Chinese sentences with an instruction to translate, to name the head, and with none.

    Args:
        instruction: to translate.
    """
    found: dict[str, list[float]] = {
        "told to translate: English": [],
        "told to name the head: short": [],
        "told nothing: Chinese": [],
    }
    records: list[dict[str, object]] = []
    rights: dict[str, list[float]] = {}
    for number in budget.every_seed(seed):
        told = demo_language_model(budget.steps, number)
        pairs = told.data.test[: budget.size]
        translated = continued(told.model, [instruction.format(pair.source) for pair in pairs])
        heads = continued(told.model, [f"head: {pair.source}\n" for pair in pairs])
        plain = continued(told.model, [pair.source[: max(1, len(pair.source) // 2)] for pair in pairs], tokens=15)
        shares = (
            sum(bool(text) and text.isascii() for text in translated) / len(pairs),
            sum(0 < len(text) <= _SHORT and not text.isascii() for text in heads) / len(pairs),
            sum(bool(text) and not any("a" <= letter <= "z" for letter in text) for text in plain) / len(pairs),
        )
        for (way, values), share in zip(found.items(), shares, strict=True):
            values.append(share)
            records.append({"told": way, "seed": str(number), "share": share})
        for each in score_instructions(pairs[:20], partial(continued, told.model)):
            rights.setdefault(each.task, []).append(each.accuracy)
    titles = {
        "told": Text("told, and what comes", "指令与所得"),
        "share": Text("share", "比例"),
        "seed": Text("seed", "种子"),
    }
    names = ("english_when_told_to_translate", "short_when_told_to_name_the_head", "chinese_when_told_nothing")
    tasks = {"zh→en": "zh_en", "en→zh": "en_zh", "head": "head", "continue": "continue"}
    numbers = {
        **{name: mean_over_seeds(values) for name, values in zip(names, found.values(), strict=True)},
        **{f"right_to_the_letter_{tasks[task]}": mean_over_seeds(values) for task, values in rights.items()},
    }
    return Evidence(numbers, records, Figure("bar", "told", "share", "seed", titles))


_MOST = Text("nearly all, over all of the interval; half would be a coin", "整个区间都接近全部；一半等于掷硬币")

CLAIM = Claim(
    id="T7",
    statement=Text(
        "Without an instruction a language model just continues; with one it does what it is told.",
        "没有指令，语言模型只是续写；有了指令，它按指令做事。",
    ),
    equation="p(y | instruction, x)  against  p(y | x)",
    measured=Text(
        "the same Chinese sentences (size: sentences) with an instruction to translate, with one to name the head "
        "word, and begun without "
        "any: in which language, and how long, the answer is; answers right to the letter beside it",
        "同样的中文句子（size 为句数），分别加上翻译指令、说出中心词的指令、以及不加指令只给开头：回答是哪种语言、多长"
        "；另列逐字正确的比例",
    ),
    rule=Rule(
        (
            at_least("english_when_told_to_translate", 0.8, _MOST, fails_at=0.5),
            at_least("short_when_told_to_name_the_head", 0.8, SEEDS, fails_at=0.5),
            at_least("chinese_when_told_nothing", 0.8, _MOST, fails_at=0.5),
        )
    ),
    reading=Text(
        "The instruction is a prefix like any other text: it moves the distribution of what comes next. The verdict "
        "asks for the right kind of answer; right to the letter is more, and a translation is so less often than a "
        "head word. Here the model has seen each kind in training, so obeying is what continuing means. Following "
        "instructions never seen takes many kinds of them (Wei et al. 2022), or people who rank answers (Ouyang et "
        "al. 2022).",
        "指令与其他文本一样只是前缀，它移动了后文的分布。判定只问回答的种类对不对；一字不差是更高的要求，译文做到的比"
        "中心词少。这里模型在训练中见过每一种指令，所以服从就是续写。要听从从未"
        "见过的指令，"
        "需要种类繁多的指令数据（Wei 等 2022），或由人给回答排序（Ouyang 等 2022）。",
    ),
    sources=(
        "Radford et al. 2019",
        "Wei et al. 2022, Finetuned Language Models are Zero-Shot Learners",
        "Ouyang et al. 2022, InstructGPT",
    ),
    run=measure,
    effort=Effort(Budget(seeds=3, steps=40, size=15), Budget(seeds=4, steps=2_400, size=100)),
)

"""One hand-checked sentence for each phenomenon of the demo language."""

from pathlib import Path

import pytest

from pellucid.demo.apple import apple
from pellucid.demo.descriptions import (
    comparison,
    description,
    existence,
    having,
    kinds,
    location,
    missing,
    profession,
    this_is,
)
from pellucid.demo.events import animal, calling, clock, event, giving, handling, passive, spending
from pellucid.demo.phrases import condition, contrast, greeting, parting, request, weather
from pellucid.demo.questions import how_many, price, what, where, who, whose, why
from tests.demo.scripted import Template, build

CASES: list[tuple[Template, str, tuple[float, ...], str, str]] = [
    # Measure words, 两, numbers, plurals.
    (animal, "猫 past eat 鱼 counted_noun 三 昨天", (0.75,),
        "那只猫昨天吃了三条鱼。", "That cat ate three fish yesterday."),
    (event, "affirmative pronoun 我 past object 买 书 counted 两", (), "我买了两本书。", "I bought two books."),
    (event, "affirmative pronoun 她 past object 买 鞋 a", (), "她买了一双鞋。", "She bought a pair of shoes."),
    (request, "_please_give 茶 counted_noun 三", (), "请给我三杯茶。", "Please give me three cups of tea."),
    # Colours; a and an.
    (event, "affirmative pronoun 她 past object 买 帽子 a 红色", (0.45,),
        "她买了一顶红色的帽子。", "She bought a red hat."),
    (event, "affirmative pronoun 她 past object 买 帽子 a 橙色", (0.45,),
        "她买了一顶橙色的帽子。", "She bought an orange hat."),
    (event, "affirmative pronoun 她 past object 买 手表 a 旧", (0.45,),
        "她买了一块旧手表。", "She bought an old watch."),
    # Aspect: 了, 没, 过, 已经, 还没, 在, 会.
    (event, "negative pronoun 她 past object 买 书 any 昨天", (0.75,),
        "她昨天没买书。", "She did not buy any books yesterday."),
    (event, "question pronoun 你 past object 买 书 any 昨天", (0.75, 0.8),
        "你昨天买书了吗？", "Did you buy any books yesterday?"),
    (event, "affirmative pronoun 我 experience go 北京", (), "我去过北京。", "I have been to Beijing."),
    (event, "negative pronoun 她 experience go 北京", (), "她没去过北京。", "She has never been to Beijing."),
    (event, "question pronoun 你 experience go 北京", (0.8,), "你去过北京吗？", "Have you ever been to Beijing?"),
    (event, "affirmative pronoun 他 already object 吃 苹果 pointed", (),
        "他已经吃了那个苹果。", "He has already eaten that apple."),
    (event, "negative pronoun 他 already object 吃 苹果", (), "他还没吃那个苹果。", "He has not eaten that apple yet."),
    (event, "affirmative pronoun 她 progressive object 喝 茶 generic", (), "她在喝茶。", "She is drinking tea."),
    (event, "affirmative pronoun 他 habit object 喝 茶 generic 每天", (0.7,),
        "他每天喝茶。", "He drinks tea every day."),
    (event, "negative pronoun 她 state object 喜欢 猫 generic", (), "她不喜欢猫。", "She does not like cats."),
    (event, "negative pronoun 她 wish go 学校", (), "她不想去学校。", "She does not want to go to school."),
    # Time and place before the verb.
    (event, "affirmative pronoun 我 habit activity 跑步 公园 每天", (0.3, 0.7),
        "每天我在公园跑步。", "I run in the park every day."),
    (event, "affirmative pronoun 他 past go 上海 火车 去年", (0.75, 0.35),
        "他去年坐火车去了上海。", "He went to Shanghai by train last year."),
    (clock, "pronoun 我 habit 每天早上 七", (),
        "我每天早上七点起床。", "I get up at seven o'clock every morning."),
    # 的: relative clauses, owners.
    (description, "affirmative 书 有意思 past 买 pronoun 我 昨天", (0.3,),
        "我昨天买的书很有意思。", "The book that I bought yesterday is interesting."),
    (event, "affirmative person_with_relative_clause 老师 _able 说中文 past go 北京", (),
        "会说中文的那位老师去了北京。", "The teacher who can speak Chinese went to Beijing."),
    (this_is, "这 affirmative owned 书", (), "这是我的书。", "This is my book."),
    (this_is, "这 affirmative 书 ordinal 第二", (), "这是我的第二本书。", "This is my second book."),
    # 把, 被, 给, 比, 有.
    (handling, "pronoun 他 吃 鱼 demonstrative_noun", (), "他把那条鱼吃了。", "He ate that fish."),
    (passive, "吃 蛋糕 possessed_noun 我 demonstrative_noun 猫", (0.5,),
        "我的蛋糕被这只猫吃了。", "My cake was eaten by this cat."),
    (giving, "pronoun 他 past affirmative pronoun 我 书 indefinite_noun", (0.6,),
        "他给了我一本书。", "He gave me a book."),
    (giving, "pronoun 他 past affirmative pronoun 我 书 indefinite_noun", (),
        "他给我买了一本书。", "He bought a book for me."),
    (comparison, "猫 大 狗", (0.5, 0.7), "这只猫比那只狗大。", "This cat is bigger than that dog."),
    (comparison, "pronoun 我 pronoun 他 高", (0.4, 0.3), "我没有他高。", "I am not as tall as him."),
    (kinds, "猫 大 狗", (0.6,), "猫比狗大。", "Cats are bigger than dogs."),
    (existence, "桌子 affirmative 书 counted_noun 三", (), "桌子上有三本书。", "There are three books on the table."),
    (existence, "桌子 negative 书", (), "桌子上没有书。", "There are no books on the table."),
    (having, "negative 狗 pronoun 我", (), "我没有狗。", "I do not have a dog."),
    (location, "affirmative pronoun 她 北京", (0.5,), "她在北京。", "She is in Beijing."),
    # 是, 很, 太…了.
    (profession, "pronoun 她 affirmative 医生", (0.6,), "她是一位医生。", "She is a doctor."),
    (profession, "pronoun 他们 affirmative 学生", (), "他们是学生。", "They are students."),
    (description, "affirmative 手表 贵 demonstrative_noun 太", (), "那块手表太贵了。", "That watch is too expensive."),
    # Question words stay in Chinese, lead in English.
    (what, "买 past pronoun 你 昨天", (0.7,), "你昨天买了什么？", "What did you buy yesterday?"),
    (who, "past object 买 书 pointed 昨天", (0.75,), "谁昨天买了那本书？", "Who bought that book yesterday?"),
    (how_many, "done 买 书 pronoun 你", (), "你买了几本书？", "How many books did you buy?"),
    (where, "is 桌子 书 possessed_noun", (), "我的书在哪里？", "Where is my book?"),
    (why, "past pronoun 你 go 学校 昨天", (0.5, 0.75),
        "你昨天为什么没去学校？", "Why did you not go to school yesterday?"),
    (whose, "那 书", (), "那是谁的书？", "Whose book is that?"),
    (price, "书", (0.5,), "这本书多少钱？", "How much is this book?"),
    # Fixed phrases.
    (greeting, "好久不见 小明", (), "好久不见，小明。", "Long time no see, Xiaoming."),
    (parting, "_see_you 明天", (), "明天见。", "See you tomorrow."),
    (request, "_let_us 公园", (), "我们去公园吧。", "Let us go to the park."),
    # Words of two senses.
    (event, "affirmative pronoun 他 past object 吃 苹果 a", (), "他吃了一个苹果。", "He ate an apple."),
    (apple, "_fruit 好吃 bare_noun", (), "苹果很好吃。", "Apples are delicious."),
    (apple, "_works_at state affirmative pronoun 他", (), "他在苹果工作。", "He works at Apple."),
    (apple, "_apples_device 手机 贵 affirmative", (), "苹果的新手机很贵。", "Apple's new phone is expensive."),
    (event, "affirmative pronoun 他 skill activity 打篮球", (), "他会打篮球。", "He can play basketball."),
    (event, "affirmative pronoun 他 future activity 打篮球 明天", (),
        "他明天会打篮球。", "He will play basketball tomorrow."),
    (event, "affirmative person pronoun 他 past person 打 pronoun 我 昨天", (0.75,),
        "他昨天打了我。", "He hit me yesterday."),
    (calling, "pronoun 他 past affirmative pronoun 她", (), "他给她打了电话。", "He made a phone call to her."),
    (missing, "pronoun 我 kin 我 妈妈", (0.6,), "我很想我妈妈。", "I miss my mother very much."),
    (spending, "一百 pronoun 他 昨天", (0.75,), "他昨天花了一百块钱。", "He spent one hundred yuan yesterday."),
    (event, "affirmative pronoun 她 past object 买 花 a", (), "她买了一朵花。", "She bought a flower."),
    # Two clauses; the weather.
    (contrast, "pronoun 我 pronoun 他 猫", (0.6,),
        "我喜欢猫，可是他不喜欢猫。", "I like cats, but he does not like cats."),
    (condition, "下雨 明天 pronoun 我 go 图书馆", (),
        "如果明天下雨，我会去图书馆。", "If it rains tomorrow, I will go to the library."),
    (weather, "昨天 冷 affirmative 北京", (0.4,), "昨天北京很冷。", "It was cold in Beijing yesterday."),
]  # fmt: skip


@pytest.mark.parametrize(("template", "script", "chances", "source", "target"), CASES, ids=[case[3] for case in CASES])
def test_the_sentence_is_right_in_both_languages(
    template: Template, script: str, chances: tuple[float, ...], source: str, target: str
) -> None:
    assert build(template, script, chances)[:2] == (source, target)


def strongest_links(template: Template, script: str, *chances: float) -> set[str]:
    return build(template, script, chances)[2]


def test_a_measure_word_is_linked_like_its_number_or_determiner() -> None:
    found = strongest_links(animal, "猫 past eat 鱼 counted_noun 三 昨天", 0.75)
    assert found == {
        "那-That", "只-That", "猫-cat", "吃-ate", "了-ate", "三-three", "条-three", "鱼-fish", "昨天-yesterday", "。-.",
    }  # fmt: skip


def test_a_measure_word_is_linked_to_its_english_unit() -> None:
    found = strongest_links(request, "_please_give 茶 counted_noun 三")
    assert {"三-three", "杯-cups", "杯-of", "茶-tea"} <= found
    assert "杯-three" not in found


def test_the_links_of_a_relative_clause_follow_its_reordering() -> None:
    found = strongest_links(description, "affirmative 书 有意思 past 买 pronoun 我 昨天", 0.3)
    assert found == {
        "我-I", "昨天-yesterday", "买-bought", "的-that", "书-The", "书-book", "很-is", "有意思-interesting", "。-.",
    }  # fmt: skip


def test_the_question_particle_is_linked_to_the_auxiliary() -> None:
    found = strongest_links(event, "question pronoun 你 past object 买 书 any 昨天", 0.75, 0.8)
    assert {"吗-Did", "了-Did", "买-buy", "书-any", "书-books", "？-?"} <= found


def test_the_company_and_the_fruit_have_different_links() -> None:
    assert "苹果-Apple" in strongest_links(apple, "_works_at state affirmative pronoun 他")
    assert "苹果-Apples" in strongest_links(apple, "_fruit 好吃 bare_noun")


@pytest.mark.parametrize("guide", ["docs/demo-language.md", "docs/demo-language.zh.md"])
def test_the_examples_of_the_guide_are_sentences_of_the_language(guide: str) -> None:
    text = (Path(__file__).parents[2] / guide).read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[2:4]] for line in text.splitlines() if line.count("|") == 4]
    examples = [(source, target) for source, target in rows if source.endswith(("。", "？"))]
    assert len(examples) == 22
    assert set(examples) <= {(source, target) for *_, source, target in CASES}

"""The verbs of the demo language and their possible objects."""

from typing import NamedTuple

from pellucid.demo.lexicon import Noun, nouns_of

__all__ = ["ACTIVITIES", "PEOPLE_VERBS", "VERBS", "Activity", "Verb", "verbs_of"]

EVENT = "past experience already future wish"


class Verb(NamedTuple):
    """A verb with an object.

    Attributes:
        en: the English verb, with its particle if it has one (`look for`).
        of: kinds and nouns that can be its object.
        aspects: the aspects that it is used in, separated by spaces.
        generic: a bare noun can be its object: 吃苹果, eat apples.
        owned: its object can have an owner: 洗我的衬衫; but nobody buys what they already own.
    """

    zh: str
    en: str
    of: str = ""
    aspects: str = ""
    generic: bool = False
    owned: bool = True

    @property
    def objects(self) -> tuple[Noun, ...]:
        """Return the nouns that may be its object."""
        return nouns_of(self.of)


_SOLD = "animal device vehicle furniture building clothing worn reading"
_PICTURED = "animal beast plant building vehicle 椅子 帽子 杯子 苹果"
_LIKED = "animal beast fruit food drink reading film plant 裙子 帽子 毛衣 衬衫 -老鼠"
VERBS: tuple[Verb, ...] = (
    Verb("买", "buy", _SOLD + " paper thing fruit food 花 -信 -照片", EVENT + " progressive", owned=False),
    Verb("卖", "sell", _SOLD, EVENT),
    Verb("看见", "see", "animal beast reading paper thing vehicle plant", "past"),
    Verb("喜欢", "like", _LIKED, "state", generic=True),
    Verb("吃", "eat", "fruit food 鱼", EVENT + " progressive habit", generic=True),
    Verb("喝", "drink", "drink", EVENT + " progressive habit", generic=True),
    Verb("看", "read", "reading", EVENT + " progressive habit", generic=True),
    Verb("看", "watch", "film", EVENT + " progressive habit", generic=True),
    Verb("写", "write", "信 书 小说", EVENT + " progressive habit", generic=True),
    Verb("画", "draw", _PICTURED, EVENT + " progressive habit", generic=True, owned=False),
    Verb("洗", "wash", "clothing vehicle fruit 杯子 盘子", EVENT + " progressive"),
    Verb("修", "repair", "vehicle device furniture 手表 雨伞 眼镜", EVENT + " progressive"),
    Verb("做", "make", "包子 饺子 三明治 面条", EVENT + " progressive habit", generic=True, owned=False),
    Verb("穿", "wear", "clothing -袜子", "past experience future wish"),
    Verb("戴", "wear", "worn", "past future wish"),
    Verb("找", "look for", "animal reading paper device thing worn 自行车", "progressive past"),
    Verb("打开", "open", "opening 盒子 包 雨伞", "past already future"),
    Verb("关上", "close", "opening 盒子 雨伞 包", "past already future"),
    Verb("丢", "lose", "钥匙 手机 帽子 雨伞 手表 眼镜 包 词典 照片 信 相机 球 自行车 铅笔", "past already"),
    Verb("带", "bring", "雨伞 词典 地图 相机 电脑 fruit 三明治 礼物 照片 外套 球 水 啤酒", "past future already"),
    Verb("用", "use", "device 词典 地图 雨伞 刀 铅笔 杯子 自行车", "past future wish progressive"),
)  # fmt: skip

# Verbs whose objects are people: pronouns, names, relatives, 那位老师.
PEOPLE_VERBS: tuple[Verb, ...] = (
    Verb("等", "wait for", "adult child", "past already future progressive"),
    Verb("帮助", "help", "adult child", "past already future wish experience"),
    Verb("认识", "know", "adult artist child", "state"),
    Verb("爱", "love", "孩子", "state"),
    Verb("打", "hit", "男人 男孩", "past"),
    Verb("照顾", "look after", "child", "past future wish progressive"),
    Verb("看见", "see", "adult child artist", "past"),
    Verb("喜欢", "like", "adult child artist", "state"),
    Verb("找", "look for", "adult child", "progressive past"),
    Verb("画", "draw", "adult child", "past future wish progressive"),
)


def verbs_of(words: str) -> tuple[Verb, ...]:
    """Find the verbs with an object by their Chinese, in the order of the lexicon; 看 is two."""
    return tuple(verb for verb in VERBS if verb.zh in words.split())


class Activity(NamedTuple):
    """A verb with a fixed object, or with none: 打篮球, 游泳.

    Attributes:
        parts: (Chinese word, English word or words) in the order of both languages; the first is the verb.
        skill: it can be learnt: 会游泳, can swim.
        separable: 了 and 过 follow the verb (打过篮球); otherwise 了 follows the whole (游泳了).
        place: the places where it is done, separated by spaces; "" if none is named.
    """

    parts: tuple[tuple[str, str], ...]
    aspects: str = ""
    skill: bool = False
    separable: bool = False
    place: str = ""


DOING = "past future wish progressive habit"
ACTIVITIES: tuple[Activity, ...] = (
    Activity((("打", "play"), ("篮球", "basketball")), DOING + " experience", True, True, "学校 公园"),
    Activity((("打", "play"), ("网球", "tennis")), DOING + " experience", True, True, "学校 公园"),
    Activity((("打", "play"), ("排球", "volleyball")), DOING + " experience", True, True, "学校 公园"),
    Activity((("打", "play"), ("乒乓球", "table tennis")), DOING + " experience", True, True, "学校 公园"),
    Activity(
        (("打", "make"), ("电话", "a phone call")), "past future wish progressive", False, True, "机场 银行 饭馆 医院"
    ),
    Activity((("弹", "play"), ("钢琴", "the piano")), DOING + " experience", True, True, "学校 饭馆"),
    Activity((("看", "watch"), ("电视", "television")), DOING, False, False, "饭馆 医院 机场"),
    Activity((("听", "listen to"), ("音乐", "music")), DOING, False, False, "公园 图书馆"),
    Activity((("唱歌", "sing"),), DOING, False, False, "公园 学校"),
    Activity((("开", "drive"), ("车", "a car")), "past future wish progressive experience", True, True),
    Activity((("骑", "ride"), ("自行车", "a bicycle")), "past future wish progressive experience", True, True, "公园"),
    Activity((("说", "speak"), ("中文", "Chinese")), "past progressive experience", True, True),
    Activity((("说", "speak"), ("英语", "English")), "past progressive experience", True, True),
    Activity((("学习", "study"), ("中文", "Chinese")), DOING, False, False, "学校 图书馆 北京 上海 中国"),
    Activity((("学习", "study"), ("英语", "English")), DOING, False, False, "学校 图书馆 伦敦 纽约"),
    Activity((("学习", "study"), ("数学", "mathematics")), DOING, False, False, "学校 图书馆"),
    Activity((("做饭", "cook"),), DOING, True, False, "饭馆"),
    Activity((("游泳", "swim"),), DOING, True),
    Activity((("跳舞", "dance"),), DOING, True, False, "公园 学校"),
    Activity((("跑步", "run"),), DOING, False, False, "公园 学校"),
    Activity((("睡觉", "sleep"),), "past wish progressive", False, False, "机场 图书馆"),
    Activity((("休息", "rest"),), "past future wish progressive", False, False, "公园 机场 医院"),
    Activity(
        (("工作", "work"),),
        DOING,
        False,
        False,
        "学校 医院 超市 机场 银行 饭馆 博物馆 图书馆 北京 上海 巴黎 伦敦 东京 纽约",
    ),
)

"""The words of the demo language: their translations, measure words and possible partners."""

from functools import cache
from typing import NamedTuple

__all__ = [
    "ADJECTIVES",
    "COLOURS",
    "KIN",
    "MONEY",
    "NAMES",
    "NOUNS",
    "NUMBERS",
    "ORDINALS",
    "PLACES",
    "SPOTS",
    "SURNAMES",
    "TIMES",
    "TITLES",
    "Adjective",
    "Noun",
    "Place",
    "Spot",
    "Time",
    "nouns_of",
]


class Noun(NamedTuple):
    """A noun with its measure word.

    Attributes:
        kind: semantic class, by which verbs and adjectives name their partners.
        unit: the English measure word, if there is one (`cup` of tea, `pair` of shoes); such nouns have no plural of
            their own.
        is_plural: the English word is always plural (shoes, noodles).
    """

    zh: str
    en: str
    measure: str
    kind: str
    unit: str = ""
    is_plural: bool = False


def _nouns(kind: str, table: str) -> tuple[Noun, ...]:
    """Parse `measure chinese english [= unit]` entries separated by commas; `shoes+` is always plural."""
    nouns = []
    for entry in table.split(","):
        words, _, unit = entry.partition("=")
        measure, zh, *en = words.split()
        english = " ".join(en)
        nouns.append(Noun(zh, english.removesuffix("+"), measure, kind, unit.strip(), english.endswith("+")))
    return tuple(nouns)


NOUNS: tuple[Noun, ...] = (
    *_nouns("animal", "只 猫 cat, 只 狗 dog, 只 鸟 bird, 只 兔子 rabbit, 条 鱼 fish, 匹 马 horse, 只 羊 sheep"),
    *_nouns("animal", "只 鸡 chicken, 头 牛 cow"),
    *_nouns("beast", "只 老虎 tiger, 头 大象 elephant, 只 熊猫 panda, 只 猴子 monkey, 只 老鼠 mouse, 条 蛇 snake"),
    *_nouns(
        "adult", "个 学生 student, 位 老师 teacher, 位 医生 doctor, 个 女人 woman, 个 男人 man, 位 警察 police officer"
    ),
    *_nouns("adult", "位 司机 driver, 位 护士 nurse, 位 律师 lawyer, 位 工程师 engineer, 位 农民 farmer"),
    *_nouns("artist", "位 演员 actor, 位 作家 writer, 位 艺术家 artist"),
    *_nouns("child", "个 孩子 child, 个 女孩 girl, 个 男孩 boy"),
    *_nouns("fruit", "个 苹果 apple, 个 橙子 orange, 根 香蕉 banana, 个 梨 pear, 个 西瓜 watermelon, 个 桃子 peach"),
    *_nouns("food", "个 鸡蛋 egg, 块 蛋糕 cake = piece, 个 包子 steamed bun, 个 饺子 dumpling, 个 三明治 sandwich"),
    *_nouns("food", "片 面包 bread = slice, 碗 米饭 rice = bowl, 碗 面条 noodles+ = bowl"),
    *_nouns(
        "drink",
        "杯 茶 tea = cup, 杯 咖啡 coffee = cup, 杯 水 water = glass, 杯 牛奶 milk = glass, 杯 果汁 juice = glass",
    ),
    *_nouns("drink", "瓶 啤酒 beer = bottle"),
    *_nouns("reading", "本 书 book, 本 小说 novel, 本 杂志 magazine, 份 报纸 newspaper"),
    *_nouns("paper", "封 信 letter, 本 词典 dictionary, 张 地图 map, 张 照片 photo"),
    *_nouns("film", "部 电影 film, 场 比赛 match"),
    *_nouns("device", "部 手机 phone, 台 电脑 computer, 台 相机 camera"),
    *_nouns("vehicle", "辆 自行车 bicycle, 辆 汽车 car"),
    *_nouns(
        "thing",
        "个 杯子 cup, 个 盘子 plate, 个 包 bag, 把 雨伞 umbrella, 把 钥匙 key, 个 盒子 box, 个 球 ball, 支 铅笔 pencil",
    ),
    *_nouns("thing", "把 刀 knife, 件 礼物 gift"),
    *_nouns("furniture", "张 桌子 table, 把 椅子 chair, 张 床 bed"),
    *_nouns("clothing", "件 衬衫 shirt, 条 裙子 skirt, 件 毛衣 sweater, 件 外套 coat"),
    *_nouns("clothing", "条 裤子 trousers+ = pair, 双 鞋 shoes+ = pair, 双 袜子 socks+ = pair"),
    *_nouns("worn", "顶 帽子 hat, 块 手表 watch, 副 眼镜 glasses+ = pair"),
    *_nouns("plant", "朵 花 flower, 棵 树 tree"),
    *_nouns("building", "座 房子 house"),
    *_nouns("opening", "扇 门 door, 扇 窗户 window"),
)


class Adjective(NamedTuple):
    """An adjective and the nouns it can modify.

    Attributes:
        of: kinds and nouns that it goes with; `-` before a noun excludes it.
        attributive: it may precede its noun.
    """

    zh: str
    en: str
    of: str
    attributive: bool = True

    @property
    def short(self) -> bool:
        """It has one syllable and needs no 的 before a noun: 大狗, not 大的狗."""
        return len(self.zh) == 1

    @property
    def nouns(self) -> tuple[Noun, ...]:
        """The nouns that it can modify."""
        return nouns_of(self.of)


@cache
def nouns_of(of: str) -> tuple[Noun, ...]:
    """Find the nouns named by a list of kinds and nouns, in the order of the lexicon."""
    terms = frozenset(of.split())
    return tuple(noun for noun in NOUNS if (noun.zh in terms or noun.kind in terms) and "-" + noun.zh not in terms)


_COLOURED = "clothing vehicle 帽子 杯子 盘子 包 雨伞 盒子 球 手机"
COLOURS: tuple[Adjective, ...] = (
    Adjective("红色", "red", _COLOURED + " 花 苹果"),
    Adjective("白色", "white", _COLOURED + " 花 猫 狗 兔子 鸟 马"),
    Adjective("黑色", "black", _COLOURED + " 猫 狗 鸟 马 相机 电脑"),
    Adjective("蓝色", "blue", _COLOURED + " 花 鸟 椅子"),
    Adjective("绿色", "green", _COLOURED + " 苹果 鸟 椅子 蛇"),
    Adjective("黄色", "yellow", _COLOURED + " 花 鸟"),
    Adjective("灰色", "grey", "clothing vehicle 帽子 包 猫 兔子 鸟 马"),
    Adjective("橙色", "orange", "帽子 球 毛衣 外套 杯子 包 花"),
)
ADJECTIVES: tuple[Adjective, ...] = (
    *COLOURS,
    Adjective("大", "big", "animal beast fruit furniture building 盒子 包 树 -老鼠 -蛇 -羊 -鸡 -大象 -熊猫"),
    Adjective("小", "small", "furniture building 盒子 包 鸟 鱼 猫 狗 兔子 鸡 老鼠 猴子 杯子 盘子 球 fruit"),
    Adjective("新", "new", "reading device vehicle thing furniture clothing worn 词典 地图 电影 -报纸 -礼物"),
    Adjective("旧", "old", "device vehicle thing furniture clothing worn building 词典 地图 照片 杂志 书 -礼物"),
    Adjective("好", "good", "书 小说 电影 词典 相机 老师 医生 学生 司机 律师 工程师"),
    Adjective("漂亮", "beautiful", "clothing worn plant building 鸟 猫 马 鱼 老虎 兔子 女孩 女人 礼物 杯子 盘子 -袜子"),
    Adjective("可爱", "cute", "猫 狗 兔子 鸟 熊猫 猴子 羊 child"),
    Adjective("聪明", "clever", "adult artist child 狗 猫 鸟 马 猴子 老鼠 大象"),
    Adjective("勇敢", "brave", "adult child 狗"),
    Adjective("友好", "friendly", "adult artist child 狗"),
    Adjective("有名", "famous", "artist 老师 医生 律师 工程师"),
    Adjective("年轻", "young", "adult artist"),
    Adjective("有意思", "interesting", "reading film 照片 信 礼物"),
    Adjective("奇怪", "strange", "男人 女人 鸟 鱼 信 盒子 照片 电影 小说 帽子 花"),
    Adjective("便宜", "cheap", "clothing worn device vehicle furniture fruit 鱼 词典 雨伞 盘子 杯子 包"),
    Adjective(
        "贵",
        "expensive",
        "clothing worn device vehicle furniture building fruit 鱼 drink 词典 雨伞 盘子 包",
        attributive=False,
    ),
    Adjective("好吃", "delicious", "fruit food 鱼 -米饭"),
    Adjective("干净", "clean", "clothing vehicle 杯子 盘子 床 桌子 房子"),
    Adjective("脏", "dirty", "clothing vehicle 杯子 盘子 包 球"),
    Adjective("重", "heavy", "盒子 包 furniture 自行车 电脑 词典 西瓜", attributive=False),
    Adjective("高", "tall", "adult artist child 树 马", attributive=False),
    Adjective("忙", "busy", "adult artist", attributive=False),
    Adjective("累", "tired", "adult artist child", attributive=False),
    Adjective("高兴", "happy", "adult artist child", attributive=False),
)

NAMES: tuple[tuple[str, str], ...] = (
    ("小明", "Xiaoming"), ("小红", "Xiaohong"), ("李华", "Li Hua"), ("王芳", "Wang Fang"), ("安娜", "Anna"),
    ("玛丽", "Mary"), ("汤姆", "Tom"), ("大卫", "David"), ("约翰", "John"), ("艾米", "Amy"),
)  # fmt: skip
SURNAMES: tuple[tuple[str, str], ...] = (
    ("王", "Wang"), ("李", "Li"), ("张", "Zhang"), ("陈", "Chen"), ("刘", "Liu"),
)  # fmt: skip
TITLES: tuple[tuple[str, str], ...] = (("先生", "Mr"), ("女士", "Ms"), ("教授", "Professor"))
KIN: tuple[tuple[str, str], ...] = (
    ("妈妈", "mother"), ("爸爸", "father"), ("哥哥", "elder brother"), ("弟弟", "younger brother"),
    ("姐姐", "elder sister"), ("妹妹", "younger sister"), ("爷爷", "grandfather"), ("奶奶", "grandmother"),
    ("朋友", "friend"), ("同学", "classmate"),
)  # fmt: skip

NUMBERS: tuple[tuple[str, str], ...] = (
    ("两", "two"), ("三", "three"), ("四", "four"), ("五", "five"), ("六", "six"), ("七", "seven"), ("八", "eight"),
    ("九", "nine"), ("十", "ten"), ("十二", "twelve"), ("二十", "twenty"),
)  # fmt: skip
ORDINALS: tuple[tuple[str, str], ...] = (
    ("第一", "first"), ("第二", "second"), ("第三", "third"), ("第四", "fourth"), ("第五", "fifth"),
)  # fmt: skip
MONEY: tuple[tuple[str, str], ...] = (
    ("八", "eight"), ("十", "ten"), ("十二", "twelve"), ("二十", "twenty"), ("五十", "fifty"), ("一百", "one hundred"),
    ("两百", "two hundred"), ("五百", "five hundred"), ("一千", "one thousand"), ("两千", "two thousand"),
)  # fmt: skip


class Place(NamedTuple):
    """A place to go to or to be at."""

    zh: str
    en: str
    at: str
    to: str = "to"


PLACES: tuple[Place, ...] = (
    Place("学校", "school", "at"), Place("图书馆", "the library", "in"), Place("公园", "the park", "in"),
    Place("医院", "the hospital", "in"), Place("超市", "the supermarket", "at"), Place("机场", "the airport", "at"),
    Place("银行", "the bank", "at"), Place("饭馆", "the restaurant", "in"), Place("博物馆", "the museum", "in"),
    Place("北京", "Beijing", "in"), Place("上海", "Shanghai", "in"), Place("巴黎", "Paris", "in"),
    Place("伦敦", "London", "in"), Place("东京", "Tokyo", "in"), Place("纽约", "New York", "in"),
    Place("中国", "China", "in"),
)  # fmt: skip


class Spot(NamedTuple):
    """A spot in a room or a house: 桌子上, on the table.

    Attributes:
        holds: kinds and nouns of what may well be there.
    """

    zh: str
    particle: str
    preposition: str
    en: str
    holds: str


_ON_TABLE = "fruit reading paper device drink 杯子 盘子 包 钥匙 盒子 铅笔 刀 礼物 眼镜 帽子 手表 猫 三明治 鸡蛋"
_SMALL = "钥匙 铅笔 手机 手表 眼镜 帽子 词典 书 小说 照片 礼物 相机"
SPOTS: tuple[Spot, ...] = (
    Spot("桌子", "上", "on", "table", _ON_TABLE),
    Spot("桌子", "下面", "under", "table", "猫 狗 球 盒子 包 鞋 老鼠"),
    Spot("椅子", "上", "on", "chair", "reading 猫 包 clothing 帽子 盒子 -袜子 -鞋"),
    Spot("床", "上", "on", "bed", "clothing 猫 手机 书 小说 眼镜 -鞋"),
    Spot("床", "下面", "under", "bed", "鞋 袜子 盒子 球 猫 狗 兔子 老鼠"),
    Spot("盒子", "里", "in", "box", _SMALL),
    Spot("包", "里", "in", "bag", _SMALL),
    Spot("房间", "里", "in", "room", "adult child 桌子 椅子 床 电脑 猫 狗"),
    Spot("教室", "里", "in", "classroom", "child 学生 老师 电脑 桌子 椅子"),
    Spot("花园", "里", "in", "garden", "plant child 猫 狗 鸟 兔子 鸡 男人 女人"),
)


class Time(NamedTuple):
    """A time phrase, as (Chinese, English) pairs in the order both languages have them."""

    parts: tuple[tuple[str, str], ...]


def _times(table: str) -> tuple[Time, ...]:
    """Parse `chinese=english + chinese=english` entries separated by commas."""
    return tuple(
        Time(tuple((zh, en) for zh, _, en in (part.strip().partition("=") for part in entry.split("+"))))
        for entry in table.split(",")
    )


_RECENT = """昨天=yesterday, 今天=this + 早上=morning, 昨天=yesterday + 下午=afternoon, 昨天=yesterday + 早上=morning,
    昨天=yesterday + 晚上=evening, 前天=the day before yesterday"""
_SOON = """明天=tomorrow, 明天=tomorrow + 早上=morning, 明天=tomorrow + 下午=afternoon, 明天=tomorrow + 晚上=evening,
    后天=the day after tomorrow"""
TIMES: dict[str, tuple[Time, ...]] = {
    "past": _times(_RECENT + ", 上个=last + 星期=week, 上个=last + 月=month, 去年=last year"),
    "recent": _times(_RECENT),
    "future": _times(_SOON + ", 下个=next + 星期=week, 下个=next + 月=month, 明年=next year"),
    "soon": _times(_SOON),
    "habit": _times(
        "每天=every day, 每天=every + 早上=morning, 每天=every + 下午=afternoon, 每天=every + 晚上=evening,"
        "每个=every + 星期=week"
    ),
    "now": _times("现在=now"),
}

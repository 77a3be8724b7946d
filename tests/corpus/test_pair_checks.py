"""The checks of a single pair."""

import re

import pytest

from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.pair_checks import DROP_CHECKS, WARN_CHECKS, CheckContext
from pellucid.corpus.doctor.profile import learn_profile

SPANISH = re.findall(r"\w+", "el perro come en la casa de los niños porque tiene hambre y no hay más comida")
ENGLISH = re.findall(r"\w+", "the dog eats in the house of the children because it is hungry and there is no more food")
ES_EN = learn_profile(
    [" ".join(SPANISH[start % 9 :]) for start in range(300)], [" ".join(ENGLISH[start % 9 :]) for start in range(300)]
)
ZH_EN = learn_profile(["那只猫昨天吃了三条鱼。"] * 50, ["That cat ate three fish yesterday."] * 50)


def found(check: str, source: str, target: str, **limits: object) -> bool:
    profile = ZH_EN if any("\u4e00" <= letter <= "\u9fff" for letter in source + target) else ES_EN
    options = DataConfig.model_validate(limits)
    return {**DROP_CHECKS, **WARN_CHECKS}[check](source, target, CheckContext(options, profile)) is not None


@pytest.mark.parametrize(
    ("check", "source", "target"),
    [
        ("blank", "", "a"),
        ("too-long", "a" * 2001, "a"),
        ("too-short", "a", "ab"),
        ("length-ratio", "sí", "a" * 60),
        ("length-ratio", "猫" * 40, "cat"),
        ("copy", "OK", "OK"),
        ("swapped", "The cat ate fish.", "猫吃了鱼。"),
        ("swapped", "the dog is hungry and eats", "el perro tiene hambre y come en la casa"),
        ("language", "el perro come en la casa", "el perro come en la casa de los niños"),
        ("script", "那只猫昨天吃了鱼。", "Эта кошка вчера съела рыбу."),
        ("script", "This was never translated", "这只猫昨天吃了鱼 ate"),
        ("number", "hay 180,000 casos", "there are 18,000 cases"),
        ("number", "capítulo 3", "chapter 4"),
        ("number", "en 1980", "in that year"),
        ("url", "véase http://a.example/x", "see http://a.example/y"),
        ("url", "escriba a a@b.example", "write to us"),
        ("placeholder", "hola {name}", "hello {nombre}"),
        ("placeholder", "%s archivos", "files"),
        ("placeholder", "###T01### hola", "hello"),
        ("placeholder", "un <b>perro</b>", "a <b>dog"),
        ("placeholder", "hola {{person.name}}", "hello {person.name}"),
        ("punctuation", "¿viene?", "he comes"),
        ("punctuation", "no hay nada más en la casa.", "there is nothing more in the"),
        ("mojibake", "el niÃ±o", "the child"),
        ("mojibake", "itâ€™s", "es"),
        ("mojibake", "ni\ufffdo", "child"),
    ],
)
def test_what_is_wrong_is_found(check: str, source: str, target: str) -> None:
    assert found(check, source, target)


@pytest.mark.parametrize(
    ("check", "source", "target"),
    [
        ("blank", "a", "b"),
        ("too-long", "a" * 2000, "b" * 2000),
        ("too-short", "ab", "cd"),
        ("length-ratio", "是", "Yes, it is."),
        ("length-ratio", "", ""),
        ("swapped", "calibre", "calibre 书库"),
        ("swapped", "GNOME 桌面", "GNOME desktop"),
        ("script", "calibre", "Calibre"),
        ("script", "α 粒子是什么", "What is an α particle"),
        ("script", "俄罗斯", "Россия"),
        ("language", "el perro", "the dog"),
        ("number", "150 000 casos", "150,000 cases"),
        ("number", "1.500.000", "1500000"),
        ("number", "el 3.12.2020", "12/3/2020"),
        ("number", "3 perros", "three dogs"),
        ("number", "二十五", "25"),
        ("number", "１２ 个", "12"),
        ("number", "cap. 05", "ch. 5"),
        ("url", "véase (http://a.example/x).", "see http://a.example/x"),
        ("url", "@perro", "@dog"),
        ("placeholder", "50% de", "50% of"),
        ("placeholder", "%s y %d", "%d and %s"),
        ("placeholder", "a < b", "a is less than b"),
        ("punctuation", "他来了吗？", "Is he coming?"),
        ("punctuation", "“他来了。”", '"He came".'),
        ("punctuation", "sí", "yes."),
        ("mojibake", "Â", "A"),
        ("mojibake", "São Paulo, maçã, Ângela, naïve", "the same"),
    ],
)
def test_what_is_right_is_left_alone(check: str, source: str, target: str) -> None:
    assert not found(check, source, target)


def test_limits_are_the_users() -> None:
    assert found("too-long", "abc", "d", max_characters=2)
    assert found("too-short", "abc", "defg", min_characters=4)
    assert found("length-ratio", "a" * 10, "b" * 45, max_ratio=2)
    assert not found("length-ratio", "a" * 10, "b" * 45)

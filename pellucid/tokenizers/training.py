"""Train a tokenizer on texts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pellucid.errors import UserError
from pellucid.tokenizers.alphabet import BYTES, Alphabet, choose_alphabet
from pellucid.tokenizers.byte_pairs import train_byte_pairs
from pellucid.tokenizers.config import TokenizerConfig
from pellucid.tokenizers.subword_model import SubwordModel
from pellucid.tokenizers.tokenizer import SPECIAL_IDS, Tokenizer
from pellucid.tokenizers.unigram import train_unigram
from pellucid.tokenizers.vocabulary_size import choose_vocab_size
from pellucid.tokenizers.word_list import WordList, train_words

__all__ = ["train_tokenizer"]

_FIXED_IDS = SPECIAL_IDS + len(BYTES) + 1
_CHARACTERS_SHARE = 0.5  # maximum share of the ids that are not fixed; the rest is for longer pieces
_MAX_WORDS = 32_000  # vocabulary size if none is given
_GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ / the golden ratio: its multiples are spread evenly
_WORD_BITS = 64

_TRAINERS: dict[str, Callable[[Mapping[str, int], Sequence[str], int], SubwordModel]] = {
    "bpe": train_byte_pairs,
    "unigram": train_unigram,
    "words": train_words,
}


def train_tokenizer(texts: Iterable[str], config: TokenizerConfig | None = None) -> Tokenizer:
    """Train a tokenizer on texts, read once; deterministic.

    With `config.joint` the texts are those of both languages, so that the number of pairs, from which the default
    vocabulary size is chosen, is half the number of texts. The vocabulary is smaller than requested if the text does
    not support more pieces; see `Tokenizer.vocab_size`. `Tokenizer.trained_on` records how much of the text was used:
    "used_characters" of "characters".

    Raises:
        UserError: if there is no text, or a text has a lone surrogate.
    """
    config = config or TokenizerConfig()
    if isinstance(texts, str):
        raise UserError("expected a list of texts, got one text", where="texts", hint="Put it in a list.")
    sample, trained_on = _take_sample(texts, config.max_training_characters)
    if not trained_on["characters"]:
        raise UserError("no text to train a tokenizer on", where="texts", hint="Give texts that are not empty.")
    size = _vocab_size(config, trained_on["texts"])
    alphabet = choose_alphabet(_count_characters(sample), config.character_coverage, _max_characters(config, size))
    return Tokenizer(alphabet, _train_model(sample, alphabet, config, size), trained_on)


def _train_model(sample: list[str], alphabet: Alphabet, config: TokenizerConfig, size: int | None) -> SubwordModel:
    base_symbols = alphabet.base_symbols
    if config.kind == "characters":
        return WordList("characters", base_symbols)
    room = 0 if size is None else max(0, size - SPECIAL_IDS - len(base_symbols))
    return _TRAINERS[config.kind](_count_words(sample, alphabet), base_symbols, room)


def _vocab_size(config: TokenizerConfig, texts: int) -> int | None:
    if config.vocab_size is not None or config.kind == "characters":
        return config.vocab_size
    return _MAX_WORDS if config.kind == "words" else choose_vocab_size(texts // 2 if config.joint else texts)


def _max_characters(config: TokenizerConfig, size: int | None) -> int | None:
    if size is None:
        return None
    return int((size - _FIXED_IDS) * (1 if config.kind == "characters" else _CHARACTERS_SHARE))


def _take_sample(texts: Iterable[str], limit: int) -> tuple[list[str], dict[str, int]]:
    """Keep an even sample of at most `limit` characters, and count; a single longer text is truncated.

    Whenever the sample exceeds the limit, the share of texts kept is halved.
    """
    kept: list[tuple[int, str]] = []
    number = characters = used = halvings = 0
    for number, text in enumerate(texts, 1):
        characters += len(text)
        if not text or not _is_kept(number, halvings):
            continue
        kept.append((number, text[:limit]))
        used += len(kept[-1][1])
        while used > limit and len(kept) > 1:
            halvings += 1
            kept = [entry for entry in kept if _is_kept(entry[0], halvings)] or kept[:1]
            used = sum(len(text) for _, text in kept)
    counts = {"texts": number, "used_texts": len(kept), "characters": characters, "used_characters": used}
    return [text for _, text in kept], counts


def _is_kept(number: int, halvings: int) -> bool:
    return (number * _GOLDEN % (1 << _WORD_BITS)) >> (_WORD_BITS - halvings) == 0


def _count_characters(texts: Sequence[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    if any("\ud800" <= character <= "\udfff" for character in counts):
        for text in texts:
            Alphabet().escape(text)  # raises an error with the position
    return counts


def _count_words(texts: Iterable[str], alphabet: Alphabet) -> Counter[str]:
    return Counter(_words(texts, alphabet))


def _words(texts: Iterable[str], alphabet: Alphabet) -> Iterator[str]:
    for text in texts:
        yield from alphabet.split(alphabet.mark_start(alphabet.escape(text)))

"""Train a tokenizer on texts, with a vocabulary size that suits their amount."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pellucid.errors import UserError
from pellucid.tokenizers.alphabet import BYTES, Alphabet, choose_alphabet
from pellucid.tokenizers.byte_pairs import train_byte_pairs
from pellucid.tokenizers.config import TokenizerConfig
from pellucid.tokenizers.tokenizer import SPECIAL_IDS, SubwordModel, Tokenizer
from pellucid.tokenizers.unigram import train_unigram
from pellucid.tokenizers.word_list import WordList, train_words

__all__ = ["VOCABULARY_SIZES", "choose_vocab_size", "choose_vocab_size_for_bytes", "train_tokenizer"]

_FIXED_IDS = SPECIAL_IDS + len(BYTES) + 1
_CHARACTERS_SHARE = 0.5  # maximum share of the ids that are not fixed; the rest is for longer pieces
_MAX_WORDS = 32_000  # vocabulary size if none is given
_GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ / the golden ratio: its multiples are spread evenly
_WORD_BITS = 64

# (pairs up to, vocabulary size)
VOCABULARY_SIZES = (
    (1_000, 600),
    (5_000, 1_000),
    (15_000, 2_000),
    (100_000, 4_000),
    (1_000_000, 8_000),
    (3_000_000, 16_000),
)
_LARGEST_VOCABULARY = 32_000
_BYTES_OF_PAIR = 120  # bytes; a language model gets the vocabulary size of a translator with as much text

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


def choose_vocab_size(pairs: int) -> int:
    """Choose the vocabulary size (bpe or unigram) for a translator trained on `pairs` sentence pairs.

    | pairs up to | 1,000 | 5,000 | 15,000 | 100,000 | 1,000,000 | 3,000,000 | more |
    |---|---|---|---|---|---|---|---|
    | vocabulary size | 600 | 1,000 | 2,000 | 4,000 | 8,000 | 16,000 | 32,000 |

    Published results: at 30,000 pairs 1,000 to 2,000 for a model tuned to low resources (Sennrich & Zhang 2019); at
    1,000,000 pairs 8,000 and at 4,500,000 pairs 32,000 (Gowda & May 2020). In our experiment with 27,600 pairs and ten
    minutes of training, 4,000 was best and 8,000 did not help. The sizes include the fixed ids (13 special ids, 256
    bytes, the space mark) and the characters. If the text does not support that many pieces, fewer are learned; see
    `Tokenizer.vocab_size`.

    Source:
        Sennrich & Zhang 2019, "Revisiting Low-Resource Neural Machine Translation"; Gowda & May 2020, "Finding the
        Optimal Vocabulary Size for Neural Machine Translation".
    """
    return next((size for limit, size in VOCABULARY_SIZES if pairs <= limit), _LARGEST_VOCABULARY)


def choose_vocab_size_for_bytes(size: int) -> int:
    """Choose the vocabulary size for a language model trained on a text of `size` bytes of UTF-8.

    As `choose_vocab_size` for pairs with sides of 60 bytes: 4,000 for 2 to 12 MB, 8,000 up to 120 MB. Bytes instead of
    characters, because a Chinese text has fewer characters but needs more ids.
    """
    return choose_vocab_size(size // _BYTES_OF_PAIR)


def _train_model(sample: list[str], alphabet: Alphabet, config: TokenizerConfig, size: int | None) -> SubwordModel:
    base_symbols = alphabet.base_symbols
    if config.kind == "characters":
        return WordList("characters", base_symbols)
    room = 0 if size is None else max(0, size - SPECIAL_IDS - len(base_symbols))
    words = Counter(word for text in sample for word in alphabet.split(alphabet.mark_start(alphabet.escape(text))))
    return _TRAINERS[config.kind](words, base_symbols, room)


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

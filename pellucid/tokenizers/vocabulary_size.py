"""Choose a vocabulary size from the amount of text."""

__all__ = ["VOCABULARY_SIZES", "choose_vocab_size", "choose_vocab_size_for_bytes"]

# (pairs up to, vocabulary size)
VOCABULARY_SIZES = (
    (1_000, 600),
    (5_000, 1_000),
    (15_000, 2_000),
    (100_000, 4_000),
    (1_000_000, 8_000),
    (3_000_000, 16_000),
)
_LARGEST = 32_000
_BYTES_OF_PAIR = 120  # bytes; a language model gets the vocabulary size of a translator with as much text


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
    return next((size for limit, size in VOCABULARY_SIZES if pairs <= limit), _LARGEST)


def choose_vocab_size_for_bytes(size: int) -> int:
    """Choose the vocabulary size for a language model trained on a text of `size` bytes of UTF-8.

    As `choose_vocab_size` for pairs with sides of 60 bytes: 4,000 for 2 to 12 MB, 8,000 up to 120 MB. Bytes instead of
    characters, because a Chinese text has fewer characters but needs more ids.
    """
    return choose_vocab_size(size // _BYTES_OF_PAIR)

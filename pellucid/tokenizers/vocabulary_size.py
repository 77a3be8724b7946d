"""How many ids a tokenizer should have for the text there is."""

__all__ = ["VOCABULARY_SIZES", "choose_vocab_size", "choose_vocab_size_for_bytes"]

# (pairs up to, ids in all)
VOCABULARY_SIZES = (
    (1_000, 600),
    (5_000, 1_000),
    (15_000, 2_000),
    (100_000, 4_000),
    (1_000_000, 8_000),
    (3_000_000, 16_000),
)
_LARGEST = 32_000
_BYTES_OF_PAIR = 120  # a language model of a text gets as many ids as a translator of as much text in pairs


def choose_vocab_size(pairs: int) -> int:
    """Return the vocabulary size for a translator trained on `pairs` sentence pairs, subwords of bpe or unigram.

    | pairs up to | 1,000 | 5,000 | 15,000 | 100,000 | 1,000,000 | 3,000,000 | more |
    |---|---|---|---|---|---|---|---|
    | ids in all | 600 | 1,000 | 2,000 | 4,000 | 8,000 | 16,000 | 32,000 |

    What is known, and where the table stands between: at 30,000 pairs 1,000 to 2,000 ids are best for a model tuned to
    so little text (Sennrich & Zhang 2019), while our own trial at 27,600 pairs, which trains for ten minutes, liked
    4,000, and 8,000 did not help; at 1,000,000 pairs 8,000 and at 4,500,000 pairs 32,000 (Gowda & May 2020). The fixed
    ids (13 special ones, 256 bytes, the space mark) and the characters are counted in. Where the text cannot support
    so many pieces fewer are made, see `Tokenizer.vocab_size`.

    Source:
        Sennrich & Zhang 2019, "Revisiting Low-Resource Neural Machine Translation"; Gowda & May 2020, "Finding the
        Optimal Vocabulary Size for Neural Machine Translation".
    """
    return next((size for limit, size in VOCABULARY_SIZES if pairs <= limit), _LARGEST)


def choose_vocab_size_for_bytes(size: int) -> int:
    """Return the vocabulary size for a language model trained on a text of `size` bytes of UTF-8.

    That of `choose_vocab_size` for pairs of two sides of 60 bytes: 4,000 ids for 2 to 12 MB, 8,000 up to 120 MB. Bytes,
    not characters: a text in Chinese has fewer characters, and needs more ids to write them.
    """
    return choose_vocab_size(size // _BYTES_OF_PAIR)

"""Convert the vocabulary of a GGUF file to a tokenizer.json of Hugging Face, which all else reads.

GGUF keeps tokens, merges and kinds of tokens, but of the rule that cuts a text into words only a name. The rules below
are those that go by these names in llama.cpp; a name that is not known is refused, for with another rule the same text
would become other ids than the model was trained on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from pellucid.errors import UserError
from pellucid.interop.foreign_model import ForeignTokenizer
from pellucid.tokenizers.imported import SpecialIds
from pellucid.tokenizers.layouts import SPACE_MARK

__all__ = ["read_gguf_tokenizer"]

_CONTROL, _USER_DEFINED, _BYTE = 3, 4, 6  # kinds of tokens; normal ones are 1, unknown 2, unused 5

_GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_QWEN2_WORDS = _LLAMA3_WORDS.replace("{1,3}", "")
_ONE_NUMBER = r"\p{N}"

# Name → what cuts the text, one after another. Source: llama.cpp, src/llama-vocab.cpp.
_WORDS = {
    "gpt-2": (_GPT2_WORDS,),
    "gpt2": (_GPT2_WORDS,),
    "smollm": (_ONE_NUMBER, _GPT2_WORDS),
    "llama3": (_LLAMA3_WORDS,),
    "llama-v3": (_LLAMA3_WORDS,),
    "llama-bpe": (_LLAMA3_WORDS,),
    "qwen2": (_QWEN2_WORDS,),
    "deepseek-r1-qwen": (_QWEN2_WORDS,),
}
_WHOLE_WORDS = frozenset({"llama3", "llama-v3", "llama-bpe"})  # a word that is a token needs no merges; start is added
_ENDS = frozenset(
    {"</s>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>"}
)


def read_gguf_tokenizer(settings: Mapping[str, Any], where: str) -> ForeignTokenizer:
    """Build the tokenizer that a GGUF file describes.

    Raises:
        UserError: if it has none, or one of an unknown kind.
    """
    kind = settings.get("tokenizer.ggml.model")
    tokens, kinds = settings.get("tokenizer.ggml.tokens"), settings.get("tokenizer.ggml.token_type")
    if not _all_are(tokens, str) or not tokens or not _all_are(kinds, int) or len(kinds) != len(tokens):
        raise _refusal("the file has no vocabulary, or one without the kinds of its tokens", where)
    warnings: tuple[str, ...] = ()
    name = settings.get("tokenizer.ggml.pre")
    if kind == "gpt2":
        if name is None:
            warnings = ("the file does not say how text is cut into words; GPT-2's rule is taken",)
        content = _byte_level(tokens, settings.get("tokenizer.ggml.merges"), str(name or "gpt-2"), where)
    elif kind == "llama":
        content = _marked(tokens, kinds, settings, where)
    else:
        raise _refusal(f"the tokenizer {kind} is not known; known are gpt2 and llama", where)
    content["added_tokens"] = _added(tokens, kinds)
    adds_start = settings.get("tokenizer.ggml.add_bos_token", kind == "llama" or name in _WHOLE_WORDS)
    start = settings.get("tokenizer.ggml.bos_token_id")
    start = start if isinstance(start, int) else None
    special = SpecialIds(start, _ends(tokens, kinds, settings), start is not None and bool(adds_start))
    template = settings.get("tokenizer.chat_template")
    return ForeignTokenizer(content, special, template if isinstance(template, str) else None, warnings)


def _byte_level(tokens: Sequence[str], merges: Any, name: str, where: str) -> dict[str, Any]:
    if name not in _WORDS:
        raise _refusal(
            f"the rule {name}, by which text is cut into words, is not known; known are {', '.join(sorted(_WORDS))}",
            where,
        )
    if not _all_are(merges, str):
        raise _refusal("the file has no merges, or some that are no text", where)
    cuts = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in _WORDS[name]
    ]
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*cuts, bytes_]},
        "decoder": bytes_,
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [_pair(merge, where) for merge in merges],
            "ignore_merges": name in _WHOLE_WORDS,
        },
    }


def _marked(tokens: Sequence[str], kinds: Sequence[int], settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Build a SentencePiece-like tokenizer, which merges the two neighbours that make the piece with the best score."""
    scores = settings.get("tokenizer.ggml.scores")
    if not _all_are(scores, (int, float)) or len(scores) != len(tokens):
        raise _refusal("the file has no scores of its tokens", where)
    mark = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE_MARK}
    first = {"type": "Prepend", "prepend": SPACE_MARK}
    puts_first = settings.get("tokenizer.ggml.add_space_prefix", True)
    return {
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": [first, mark] if puts_first else [mark]},
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": SPACE_MARK}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                *([{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if puts_first else []),
            ],
        },
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": _merges(tokens, kinds, scores),
            "byte_fallback": True,
            "fuse_unk": True,
        },
    }


def _merges(tokens: Sequence[str], kinds: Sequence[int], scores: Sequence[float]) -> list[tuple[str, str]]:
    """List every way to merge two pieces into a third, the one with the best score first.

    Of the ways to make one piece, that of the better-scored parts comes first, as in Hugging Face's own conversion.
    """
    normal = {
        token: score
        for token, kind, score in zip(tokens, kinds, scores, strict=True)
        if kind not in (_CONTROL, _USER_DEFINED, _BYTE)
    }
    ways: list[tuple[float, float, float, str, str]] = []
    for token, score in normal.items():
        for cut in range(1, len(token)):
            left, right = token[:cut], token[cut:]
            if left in normal and right in normal:
                ways.append((-score, -normal[left], -normal[right], left, right))
    return [(left, right) for *_, left, right in sorted(ways)]


def _added(tokens: Sequence[str], kinds: Sequence[int]) -> list[dict[str, Any]]:
    """List the control tokens, which no text produces, and the tokens that are matched as a whole."""
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return [
        {"id": number, "content": token, **plain, "special": kind == _CONTROL}
        for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (_CONTROL, _USER_DEFINED)
    ]


def _ends(tokens: Sequence[str], kinds: Sequence[int], settings: Mapping[str, Any]) -> tuple[int, ...]:
    """List the ids that end a text: those named by the file, then control tokens known by their spelling."""
    named = [settings.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom")]
    known = [
        number
        for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind == _CONTROL and token in _ENDS
    ]
    return tuple(dict.fromkeys(number for number in (*named, *known) if isinstance(number, int)))


def _pair(merge: str, where: str) -> tuple[str, str]:
    # A space between the two; none is inside, for a byte-level piece writes it otherwise.
    left, space, right = merge.partition(" ")
    if not space:
        raise _refusal(f"the merge {merge!r} has no two parts", where)
    return left, right


def _all_are(values: Any, kind: type | tuple[type, ...]) -> TypeGuard[list[Any]]:
    """Check for a list with elements of one type."""
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _refusal(what: str, where: str) -> UserError:
    return UserError(
        what,
        where=where,
        hint="Import the model from its Hugging Face folder, which has the whole tokenizer in tokenizer.json.",
    )

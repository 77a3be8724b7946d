"""What a look costs: processor seconds on one core, and how much memory it takes beyond the model.

    python benchmarks/looking_inside.py

Models of random weights in the sizes of recipes, a text of random tokens: what is measured does not depend on what they
know. Each row runs in a process of its own.
"""

import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from pellucid.generation.generation_config import GenerationConfig
from pellucid.inspection.lens import logit_lens
from pellucid.inspection.residual_decomposition import decompose_residual, direct_logit_attribution
from pellucid.inspection.residual_streams import effective_rank, token_identity
from pellucid.inspection.score_decomposition import decompose_scores
from pellucid.models.encoder_decoder import EncoderDecoder
from pellucid.models.encoder_decoder_config import EncoderDecoderConfig
from pellucid.tokenizers import Tokenizer, TokenizerConfig, train_tokenizer
from pellucid.training.recipe import load_recipe
from pellucid.translator import Translator

LETTERS = [chr(i) for i in (*range(0x4E00, 0x4E00 + 20_000), *range(0xAC00, 0xAC00 + 11_000))]
BOUNDED = ("decoder.5.cross_attention.weights", "logits")
ROWS = (
    ("everything", 60, "all"),
    ("everything, then all decompositions", 60, "derived"),
    ("everything, then check()", 60, "check"),
    ("everything, then what-if: one head dropped", 60, "what-if"),
    ("the same, and 60 tokens written by itself, plainly and edited", 60, "what-if-writes"),
    ("cross-attention of the last layer, logits", 60, "bounded"),
    ("cross-attention of the last layer, logits", 500, "bounded"),
    ("cross-attention of the last layer, logits", 2_000, "bounded"),
    ("everything", 500, "all"),
)


def base_translator() -> Translator:
    """Return a translator in the size of `base` with random weights."""
    torch.manual_seed(1)
    config = load_recipe("base").model
    assert isinstance(config, EncoderDecoderConfig)
    tokenizer = _tokenizer()
    network = EncoderDecoder(config, tokenizer.vocab_size, tokenizer.vocab_size, tokenizer.pad_id).eval()
    return Translator(network, tokenizer, tokenizer, GenerationConfig(max_length_ratio=0, max_length_extra=60))


def _tokenizer() -> Tokenizer:
    """Return a tokenizer of characters: a text of n letters is n tokens."""
    return train_tokenizer(["".join(LETTERS)], TokenizerConfig(kind="characters"))


def text_of(tokens: int) -> str:
    """Return a text of so many tokens, its end included."""
    draw = torch.randint(len(LETTERS), (tokens - 2,), generator=torch.Generator().manual_seed(tokens))
    return LETTERS[0] + "".join(LETTERS[i] for i in draw.tolist())


def measure(tokens: int, kind: str) -> None:
    """Print seconds of processor time, MB recorded, and MB that the process grew by at most."""
    translator = base_translator()
    text = text_of(tokens)
    translator.look("一二", target="一二")  # what is loaded and built once
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    look = translator.look(text, target=text, what=BOUNDED if kind == "bounded" else None)
    if kind == "derived":
        for stack in ("encoder", "decoder"):
            decompose_residual(look, stack)
            token_identity(look, stack)
            effective_rank(look, stack)
            decompose_scores(look, f"{stack}.0.self_attention")
        direct_logit_attribution(look)
        logit_lens(look)
    elif kind == "check":
        look.check()
    elif kind.startswith("what-if"):
        run = translator.what_if(text, target=text).ablate_head("encoder.0.self_attention", 2)
        run.run(["logits"], write=kind == "what-if-writes")
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert len(look.source) == tokens, len(look.source)
    sys.stdout.write(f"{seconds:.2f} | {look.nbytes / 1e6:,.0f} | {grown:,.0f}\n")


def main() -> None:
    """Print the table."""
    translator = base_translator()
    count = sum(weight.numel() for weight in translator.model.parameters())
    sys.stdout.write(f"{count / 1e6:.1f} M parameters, {translator.target_tokenizer.vocab_size:,} tokens\n\n")
    sys.stdout.write("| what | tokens a side | s | MB recorded | MB more held at most |\n|---|---|---|---|---|\n")
    for title, tokens, kind in ROWS:
        ended = subprocess.run(
            [sys.executable, __file__, str(tokens), kind], capture_output=True, text=True, encoding="utf-8", check=False
        )
        found = ended.stdout.strip() or ended.stderr.strip().splitlines()[-1]
        sys.stdout.write(f"| {title} | {tokens:,} | {found} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]), sys.argv[2])
    else:
        main()

"""E7: the task's error reaches the embedding rows that were used."""

import torch

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget, Claim
from pellucid.claims.evidence import Evidence, Figure, exact_values
from pellucid.claims.rules import Rule, at_least, at_most
from pellucid.claims.small_models import VOCAB_SIZE, random_ids, small_decoder
from pellucid.claims.texts import EXACTLY_NONE
from pellucid.training.config import TrainingConfig
from pellucid.training.optimizer import adamw

__all__ = ["CLAIM", "measure"]


def _gradients(seed: int, tied: bool) -> tuple[list[float], set[int]]:
    model = small_decoder(seed, tie_embeddings=tied)
    ids = random_ids(seed, 1, 8)
    _loss(model, ids).backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    return gradient.norm(dim=1).tolist(), set(ids[0, :-1].tolist())


def _loss(model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
    logits = model(ids[:, :-1])
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def _movement_of_unused(seed: int) -> float:
    """Return how far a row moves in a step without it, after a step with it, by AdamW with decay."""
    model = small_decoder(seed, tie_embeddings=False)
    optimizer = adamw(model, TrainingConfig(learning_rate=1e-2, weight_decay=0.01))
    halves = torch.arange(1, 9)[None], torch.arange(9, 17)[None]
    before = model.embedding.weight.detach().clone()
    for ids in halves:
        before = model.embedding.weight.detach().clone()
        optimizer.zero_grad()
        _loss(model, ids).backward()
        optimizer.step()
    return float((model.embedding.weight.detach() - before)[1:8].norm(dim=1).min())


def measure(seed: int, tied: bool = False) -> Evidence:
    """Take the gradient of one sentence by the rows of the embedding, with a matrix of its own and a shared one."""
    records, numbers = [], {}
    for name, share in (("own matrix", tied), ("tied to the output", True)):
        norms, used = _gradients(seed, share)
        unused = [norm for row, norm in enumerate(norms) if row not in used]
        records += [
            {"matrix": name, "row": row, "gradient": norm, "token": "in the text" if row in used else "not in the text"}
            for row, norm in enumerate(norms)
        ]
        numbers[name] = (max(unused), min(norms[row] for row in used))
    titles = {
        "row": Text(f"row of the embedding (of {VOCAB_SIZE})", f"嵌入矩阵的行（共 {VOCAB_SIZE} 行）"),
        "gradient": Text("norm of its gradient", "该行梯度的范数"),
        "token": Text("token", "词元"),
        "matrix": Text("embedding", "嵌入矩阵"),
    }
    return Evidence(
        exact_values(
            gradient_of_unused_rows=numbers["own matrix"][0],
            least_gradient_of_used_rows=numbers["own matrix"][1],
            gradient_of_unused_rows_tied=numbers["tied to the output"][0],
            update_of_unused_rows_by_adamw=_movement_of_unused(seed),
        ),
        records,
        Figure("point", "row", "gradient", "token", titles, column="matrix"),
    )


def _run(budget: Budget, seed: int) -> Evidence:
    return measure(seed)


CLAIM = Claim(
    id="E7",
    statement=Text(
        "End to end, the task's error reaches exactly the embedding rows that were used.",
        "端到端训练时，任务误差恰好传到被用到的嵌入行。",
    ),
    equation="∂loss/∂W[i] = 0 ⇔ i is not in the text",
    measured=Text(
        "the gradient of one sentence's loss by every row, with untied and tied embeddings; and how far AdamW moves a "
        "row in a step that does not use it",
        "一句话的损失对每一行的梯度，分嵌入不共享与共享两种；以及 AdamW 在未用到某行的一步里把它移动多远",
    ),
    rule=Rule(
        holds=(
            at_most("gradient_of_unused_rows", 0.0, EXACTLY_NONE),
            at_least(
                "least_gradient_of_used_rows",
                1e-6,
                Text(
                    "every row that was used gets a gradient, well above rounding",
                    "每个被用到的行都得到远高于舍入误差的梯度",
                ),
            ),
        ),
        beyond=(
            at_most("gradient_of_unused_rows_tied", 0.0, EXACTLY_NONE),
            at_most("update_of_unused_rows_by_adamw", 0.0, EXACTLY_NONE),
        ),
        condition=Text(
            "the embedding is not tied to the output, and gradients are meant, not updates: tied, every row gets a "
            "gradient from the softmax, and AdamW's momentum and decay move rows that were not used",
            "嵌入不与输出共享，且说的是梯度而非更新：共享时每行都从 softmax 得到梯度，AdamW 的动量与衰减也会移动没有"
            "用到的行",
        ),
    ),
    reading=Text(
        "The product with a one-hot vector passes its gradient to one row. With the output tied to the embedding "
        "(Press & "
        "Wolf 2017), the softmax pushes every other word down a little at each step, so every row moves. And an "
        "optimizer with memory goes on moving a row after its word has gone: frameworks keep a separate sparse Adam "
        "for "
        "those who mind.",
        "与独热向量相乘，梯度只传给一行。若输出与嵌入共享（Press 与 Wolf 2017），softmax 每一步都会把其余的词压低一"
        "点，于是每行都动。"
        "带记忆的优化器在词离开后还会继续移动它的行，介意者要用专门的稀疏 Adam。",
    ),
    sources=(
        "Bengio et al. 2003, A Neural Probabilistic Language Model",
        "Press & Wolf 2017, Using the Output Embedding to Improve Language Models",
    ),
    run=_run,
)

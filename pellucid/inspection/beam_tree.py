"""The tree of a beam search: every candidate that was considered, and what became of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pellucid.errors import UserError
from pellucid.generation.beam import BeamStep, Hypothesis, beam_search
from pellucid.generation.translation_model import TranslationModel
from pellucid.inspection.encoding import encode_source

__all__ = ["BeamNode", "BeamTree", "beam_tree", "limit_nodes"]


class BeamNode(NamedTuple):
    """A hypothesis, one token longer than its parent.

    Attributes:
        number: its index in `BeamTree.nodes`.
        parent: number of the hypothesis it continues; None for the root, which is empty.
        step: its length in tokens.
        token: the id appended.
        display: that token, readable.
        log_prob: natural logarithm of the token's probability after the parent.
        total: log-probability of the whole hypothesis.
        score: total / length^α, by which ended hypotheses are compared.
        state: `kept` in the beam, `pruned`, `ended`, or `best` on the path to the result.
    """

    number: int
    parent: int | None
    step: int
    token: int
    display: str
    log_prob: float
    total: float
    score: float
    state: str


class BeamTree(NamedTuple):
    """A search as a tree.

    Attributes:
        nodes: parents before children.
    """

    nodes: list[BeamNode]
    results: list[Hypothesis]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {"text": self.text, "nodes": [node._asdict() for node in self.nodes]}


def beam_tree(model: TranslationModel, text: str, prefix: str = "", **settings: Any) -> BeamTree:
    """Translate a text and record every candidate of the search.

    At each step every open hypothesis proposes its `beam` best continuations and its end; the `beam` most probable of
    all are kept, the others are pruned.

    Args:
        text: the source, read as one piece.
        prefix: how the translation must begin; there are no other candidates within it.
        settings: fields of GenerationConfig, such as beam=5.

    Raises:
        UserError: if the search finds no translation.
    """
    config = model.settings(**settings)
    source = encode_source(model, text).ids
    start = model.target_tokenizer.encode(prefix) if prefix else []
    steps: list[BeamStep] = []
    (results,) = beam_search(model.model, [source], model.special_tokens, config, [start], observer=steps.append)
    if not results:
        raise UserError("the search found no translation", where="look", hint="Leave the prefix out.")
    nodes = _build_nodes(steps, model, config.length_penalty)
    _mark_best(nodes, results[0], model.special_tokens.end_id)
    return BeamTree(nodes, results, model.target_tokenizer.decode(results[0].ids))


def limit_nodes(nodes: Sequence[BeamNode], limit: int) -> list[BeamNode]:
    """Reduce a tree towards `limit` nodes by leaving out pruned ones, the least probable first.

    Pruned nodes have no children, so the rest is a tree; its nodes are numbered again.
    """
    pruned = sorted((node for node in nodes if node.state == "pruned"), key=lambda node: -node.log_prob)
    room = max(0, limit - (len(nodes) - len(pruned)))
    dropped = {node.number for node in pruned[room:]}
    kept = [node for node in nodes if node.number not in dropped]
    numbers = {node.number: i for i, node in enumerate(kept)}
    return [
        node._replace(number=i, parent=None if node.parent is None else numbers[node.parent])
        for i, node in enumerate(kept)
    ]


def _build_nodes(steps: Sequence[BeamStep], model: TranslationModel, alpha: float) -> list[BeamNode]:
    start, end = model.special_tokens.start_id, model.special_tokens.end_id
    displays: dict[int, str] = {}
    nodes: list[BeamNode] = []

    def add(parent: int | None, step: int, token: int, log_prob: float, total: float, state: str) -> int:
        if token not in displays:
            displays[token] = model.target_tokenizer.pieces_from_ids([token])[0].display
        score = total / max(1, step) ** alpha
        nodes.append(BeamNode(len(nodes), parent, step, token, displays[token], log_prob, total, score, state))
        return len(nodes) - 1

    open_nodes: list[int | None] = [add(None, 0, start, 0.0, 0.0, "kept")]
    for number, step in enumerate(steps, 1):
        before = step.log_probs[0].tolist()
        kept = list(zip(step.parents[0].tolist(), step.kept[0].tolist(), strict=True))
        candidates: dict[tuple[int, int], int] = {}
        for slot, parent in enumerate(open_nodes):
            if parent is None or before[slot] == -float("inf"):
                continue
            for token, total in zip(step.tokens[0, slot].tolist(), step.continuations[0, slot].tolist(), strict=True):
                if total != -float("inf"):
                    state = "kept" if (slot, token) in kept else "pruned"
                    candidates[slot, token] = add(parent, number, token, total - before[slot], total, state)
            total = float(step.ends[0, slot])
            if total != -float("inf"):
                state = "ended" if bool(step.ended[0, slot]) else "pruned"
                add(parent, number, end, total - before[slot], total, state)
        open_nodes = [candidates.get(one) for one in kept]
    return nodes


def _mark_best(nodes: list[BeamNode], best: Hypothesis, end: int) -> None:
    children = {(node.parent, node.token): node.number for node in nodes if node.parent is not None}
    at: int | None = 0
    nodes[0] = nodes[0]._replace(state="best")
    for token in (*best.ids, *([end] if best.ended else [])):
        at = children.get((at, token)) if at is not None else None
        if at is not None:
            nodes[at] = nodes[at]._replace(state="best")

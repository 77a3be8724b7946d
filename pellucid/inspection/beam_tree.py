"""The tree of a beam search: every continuation that was weighed, with what became of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pellucid.errors import UserError
from pellucid.generation.beam import BeamStep, Hypothesis, beam_search
from pellucid.inspection.translators import read_source
from pellucid.translator import Translator

__all__ = ["BeamNode", "BeamTree", "beam_tree", "limit_nodes"]


class BeamNode(NamedTuple):
    """A hypothesis, one token longer than its parent.

    Attributes:
        number: its place in `BeamTree.nodes`.
        parent: of the hypothesis it continues; None for the root, which is empty.
        step: how many tokens it has.
        token: the id appended.
        display: that token, for people.
        log_prob: natural logarithm of the token's probability after the parent.
        total: of the whole hypothesis.
        score: total / length^α, by which ended hypotheses are compared.
        state: `kept` in the beam, `pruned`, `ended`, or `best`: on the way to the result.
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
    """What a search weighed.

    Attributes:
        nodes: parents before children.
        results: the best hypotheses, best first.
        text: the best one.
    """

    nodes: list[BeamNode]
    results: list[Hypothesis]
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"text": self.text, "nodes": [node._asdict() for node in self.nodes]}


def limit_nodes(nodes: Sequence[BeamNode], most: int) -> list[BeamNode]:
    """Return a tree of at most so many nodes, if leaving out pruned ones, the least probable first, can make it so.

    Nothing grows out of what was pruned, so that the rest is a tree; its nodes are numbered anew.
    """
    pruned = sorted((node for node in nodes if node.state == "pruned"), key=lambda node: -node.log_prob)
    room = max(0, most - (len(nodes) - len(pruned)))
    gone = {node.number for node in pruned[room:]}
    kept = [node for node in nodes if node.number not in gone]
    numbers = {node.number: i for i, node in enumerate(kept)}
    return [
        node._replace(number=i, parent=None if node.parent is None else numbers[node.parent])
        for i, node in enumerate(kept)
    ]


def beam_tree(translator: Translator, text: str, prefix: str = "", **settings: Any) -> BeamTree:
    """Search the translation of a text and return all that was weighed.

    At each step every open hypothesis brings its `beam` best continuations and its end; the `beam` most probable of all
    stay, the rest is pruned.

    Args:
        translator: any.
        text: taken whole.
        prefix: how the translation must begin; other continuations are not weighed there.
        settings: fields of GenerationConfig, such as beam=5.
    """
    config = translator.settings(**settings)
    source = read_source(translator, text).ids
    begin = translator.target_tokenizer.encode(prefix) if prefix else []
    steps: list[BeamStep] = []
    (results,) = beam_search(
        translator.model, [source], translator.special_tokens, config, [begin], observer=steps.append
    )
    if not results:
        raise UserError("the search found no translation", where="look", hint="Leave the prefix out.")
    nodes = _grown(steps, translator, config.length_penalty)
    _mark_best(nodes, results[0], translator.special_tokens.end_id)
    return BeamTree(nodes, results, translator.target_tokenizer.decode(results[0].ids))


def _grown(steps: Sequence[BeamStep], translator: Translator, alpha: float) -> list[BeamNode]:
    start, end = translator.special_tokens.start_id, translator.special_tokens.end_id
    shown: dict[int, str] = {}

    def node(parent: int | None, step: int, token: int, log_prob: float, total: float, state: str) -> int:
        if token not in shown:
            shown[token] = translator.target_tokenizer.pieces_from_ids([token])[0].display
        score = total / max(1, step) ** alpha
        nodes.append(BeamNode(len(nodes), parent, step, token, shown[token], log_prob, total, score, state))
        return len(nodes) - 1

    nodes: list[BeamNode] = []
    slots: list[int | None] = [node(None, 0, start, 0.0, 0.0, "kept")]
    for number, step in enumerate(steps, 1):
        before = step.log_probs[0].tolist()
        kept = list(zip(step.parents[0].tolist(), step.kept[0].tolist(), strict=True))
        places: dict[tuple[int, int], int] = {}
        for slot, parent in enumerate(slots):
            if parent is None or before[slot] == -float("inf"):
                continue
            for token, total in zip(step.tokens[0, slot].tolist(), step.continuations[0, slot].tolist(), strict=True):
                if total != -float("inf"):
                    state = "kept" if (slot, token) in kept else "pruned"
                    places[slot, token] = node(parent, number, token, total - before[slot], total, state)
            total = float(step.ends[0, slot])
            if total != -float("inf"):
                state = "ended" if bool(step.ended[0, slot]) else "pruned"
                node(parent, number, end, total - before[slot], total, state)
        slots = [places.get(one) for one in kept]
    return nodes


def _mark_best(nodes: list[BeamNode], best: Hypothesis, end: int) -> None:
    children: dict[tuple[int, int], int] = {}
    for one in nodes:
        if one.parent is not None:
            children[one.parent, one.token] = one.number
    at: int | None = 0
    for token in [None, *best.ids, *([end] if best.ended else [])]:
        at = at if token is None else children.get((at, token)) if at is not None else None
        if at is not None:
            nodes[at] = nodes[at]._replace(state="best")

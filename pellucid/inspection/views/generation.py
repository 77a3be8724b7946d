"""Views of a model at work: its search, its cache, its own words; and of a head over training."""

import numpy

from pellucid.errors import UserError
from pellucid.inspection.beam_tree import beam_tree, limit_nodes
from pellucid.inspection.labelled_array import Axis, LabelledArray
from pellucid.inspection.stepwise import cache_contents
from pellucid.inspection.teacher_forcing import compare_teacher_forcing
from pellucid.inspection.training_dynamics import look_across_checkpoints
from pellucid.inspection.views.charts import bars, heat_map, token_grid, tree
from pellucid.inspection.views.view import View, ViewRequest, ViewTable, chosen_head, chosen_layer, require_translator

MOST_BRANCHES = 300  # in a picture of a search: its height is 15 pixels a branch

__all__ = ["beam_view", "cache_view", "forcing_view", "over_training_view"]


def cache_view(request: ViewRequest) -> View:
    """Make the view."""
    held = cache_contents(request.look.model, request.look.input)
    used = LabelledArray(
        "cache", numpy.array([one.used for one in held], dtype=numpy.float64),
        (Axis("attention", tuple(one.name for one in held)),), "bytes", "keys and values in the cache",
    )  # fmt: skip
    table = ViewTable(
        ["attention", "tokens", "kv heads", "d_head", "bytes", "bytes reserved"],
        [[one.name, one.tokens, one.key.shape[0], one.key.shape[2], one.used, one.reserved] for one in held],
    )
    reading = "What the key–value cache holds when the last token has been read."
    return View("", "", reading, (used,), lambda: bars(used), table)


def beam_view(request: ViewRequest) -> View:
    """Make the view."""
    found = beam_tree(require_translator(request), request.look.encoded.text, request.prefix)
    drawn = limit_nodes(found.nodes, MOST_BRANCHES)
    nodes = [node._asdict() for node in drawn]
    table = ViewTable(
        ["step", "token", "log-prob", "total", "score", "state"],
        [[n.step, n.display, n.log_prob, n.total, n.score, n.state] for n in found.nodes if n.state != "pruned"],
    )
    totals = LabelledArray(
        "beam", numpy.array([node.total for node in found.nodes]),
        (Axis("node", tuple(node.display for node in found.nodes)),), "nats", "log-probability of each hypothesis",
    )  # fmt: skip
    reading = "Every continuation that was weighed; the thick of it was pruned. Colour says what became of it."
    if len(drawn) < len(found.nodes):
        reading += f" The picture leaves out the {len(found.nodes) - len(drawn):,} least probable of the pruned ones."
    return View("", "", reading, (totals,), lambda: tree(nodes, found.text.strip()), table)


def forcing_view(request: ViewRequest) -> View:
    """Make the view."""
    encoded = request.look.encoded
    found = compare_teacher_forcing(require_translator(request), encoded.text, encoded.target_text)
    count = max(len(found.teacher_forced), len(found.free_running))
    rows = [[*row, *[None] * (count - len(row))] for row in (found.teacher_forced, found.free_running)]
    values = numpy.array([[numpy.nan if one is None else one.log_prob for one in row] for row in rows])
    axes = (Axis("run", ("given words", "its own words")), Axis("place", tuple(map(str, range(count)))))
    array = LabelledArray("forcing", values, axes, "nats", "log-probability of the token that was written")
    tokens = [["" if one is None else one.display for one in row] for row in rows]
    table = ViewTable(
        ["place", "given", "log-prob", "most probable there", "own", "log-prob"],
        [
            [i, *(("", "", "") if a is None else (a.display, a.log_prob, a.best)), *(("", "") if b is None else b[:2])]
            for i, (a, b) in enumerate(zip(*rows, strict=True))
        ],
    )
    reading = "Above: each given token after the right words (teacher forcing). Below: what the model writes by itself."
    return View("", "", reading, (array,), lambda: token_grid(tokens, array), table)


def over_training_view(request: ViewRequest) -> View:
    """Make the view."""
    if request.folder is None:
        raise UserError(
            "a view over training needs the model's folder",
            where="--view",
            hint="Pass folder, the folder of the model with its checkpoints.",
        )
    look = request.look
    if look.edits:
        raise UserError("checkpoints are looked at without changes", where="--view", hint="Leave the changes out.")
    part = "cross_attention" if look.source else "self_attention"
    guided = next(iter(look.inspected.alignment_heads), None)
    layer = (
        chosen_layer(request, len(look.stack("decoder").blocks))
        if request.layer is not None or guided is None
        else guided[0]
    )
    name = f"decoder.{layer}.{part}.weights"
    target = look.encoded.target_text if look.source else None
    found = look_across_checkpoints(request.folder, look.encoded.text, target=target, what=[name])
    weights = found.arrays[name]
    head = guided[1] if request.head is None and guided else chosen_head(request, weights.shape[1])
    shown = weights[:, head]
    reading = f"{name}, head {head}, at every checkpoint that the run has kept: click on one to enlarge it."
    return View("", "", reading, (shown, found.log_prob), lambda: heat_map(shown, chosen=len(shown) - 1))

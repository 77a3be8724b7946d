"""Views of generation: the search, the cache, teacher forcing; and of a head during training."""

import numpy

from pellucid.errors import UserError
from pellucid.inspection.beam_tree import beam_tree, limit_nodes
from pellucid.inspection.labelled_array import Axis, LabelledArray, numbered_axis
from pellucid.inspection.stepwise import cache_contents
from pellucid.inspection.teacher_forcing import compare_teacher_forcing
from pellucid.inspection.training_dynamics import look_across_checkpoints
from pellucid.inspection.views.charts import bars, heat_map, token_grid, tree
from pellucid.inspection.views.view import View, ViewRequest, ViewTable, chosen_head, chosen_layer, require_translator

__all__ = ["beam_search_view", "kv_cache_view", "teacher_forcing_view", "training_dynamics_view"]

MOST_NODES = 300  # in a picture of a search, which is 15 pixels high for each


def kv_cache_view(request: ViewRequest) -> View:
    """Draw the size of the key–value cache at the end of the text."""
    entries = cache_contents(request.look.model, request.look.encoded)
    axis = Axis("attention", tuple(entry.name for entry in entries))
    sizes = numpy.array([entry.used for entry in entries], dtype=numpy.float64)
    used = LabelledArray("cache", sizes, (axis,), "bytes", "keys and values in the cache")
    table = ViewTable(
        ["attention", "tokens", "kv heads", "d_head", "bytes", "bytes reserved"],
        [[e.name, e.tokens, e.key.shape[0], e.key.shape[2], e.used, e.reserved] for e in entries],
    )
    return View("The key–value cache after the last token has been read.", (used,), lambda: bars(used), table)


def beam_search_view(request: ViewRequest) -> View:
    """Draw the tree of the search."""
    found = beam_tree(require_translator(request), request.look.encoded.text, request.prefix)
    drawn = limit_nodes(found.nodes, MOST_NODES)
    nodes = [node._asdict() for node in drawn]
    table = ViewTable(
        ["step", "token", "log-prob", "total", "score", "state"],
        [[n.step, n.display, n.log_prob, n.total, n.score, n.state] for n in found.nodes if n.state != "pruned"],
    )
    axis = Axis("node", tuple(node.display for node in found.nodes))
    values = numpy.array([node.total for node in found.nodes])
    totals = LabelledArray("beam", values, (axis,), "nats", "log-probability of each hypothesis")
    reading = "Every candidate of the search; the colour shows what became of it, and most were pruned."
    if len(drawn) < len(found.nodes):
        reading += f" The picture leaves out the {len(found.nodes) - len(drawn):,} least probable pruned candidates."
    return View(reading, (totals,), lambda: tree(nodes, found.text.strip()), table)


def teacher_forcing_view(request: ViewRequest) -> View:
    """Draw the tokens of the given translation and of the model's own."""
    encoded = request.look.encoded
    found = compare_teacher_forcing(require_translator(request), encoded.text, encoded.target_text)
    count = max(len(found.teacher_forced), len(found.free_running))
    rows = [[*row, *[None] * (count - len(row))] for row in (found.teacher_forced, found.free_running)]
    values = numpy.array([[numpy.nan if token is None else token.log_prob for token in row] for row in rows])
    axes = (Axis("run", ("teacher forcing", "free running")), numbered_axis("position", count))
    array = LabelledArray("teacher_forcing", values, axes, "nats", "log-probability of each token")
    displays = [["" if token is None else token.display for token in row] for row in rows]
    table = ViewTable(
        ["position", "given", "log-prob", "most probable", "own", "log-prob"],
        [
            [i, *(("", "", "") if a is None else (a.display, a.log_prob, a.best)), *(("", "") if b is None else b[:2])]
            for i, (a, b) in enumerate(zip(*rows, strict=True))
        ],
    )
    reading = "Above, each given token after the correct ones (teacher forcing). Below, what the model itself writes."
    return View(reading, (array,), lambda: token_grid(displays, array), table)


def training_dynamics_view(request: ViewRequest) -> View:
    """Draw an attention head at every checkpoint."""
    look = request.look
    if request.folder is None:
        raise UserError("this view needs the model's folder", where="--view", hint="Use `pellucid look FOLDER`.")
    if look.edits:
        raise UserError("checkpoints are looked at unedited", where="--view", hint="Leave the edits out.")
    sublayer = "cross_attention" if look.source else "self_attention"
    guided = next(iter(look.inspected.alignment_heads), None)
    use_guided = request.layer is None and guided is not None
    layer = guided[0] if use_guided and guided else chosen_layer(request, len(look.stack("decoder").blocks))
    name = f"decoder.{layer}.{sublayer}.weights"
    target = look.encoded.target_text if look.source else None
    found = look_across_checkpoints(request.folder, look.encoded.text, target=target, what=[name])
    weights = found.arrays[name]
    head = guided[1] if request.head is None and guided else chosen_head(request, weights.shape[1])
    shown = weights[:, head]
    reading = f"{name}, head {head}, at every checkpoint that the run has kept; click on one to enlarge it."
    return View(reading, (shown, found.log_prob), lambda: heat_map(shown, selected=len(shown) - 1))

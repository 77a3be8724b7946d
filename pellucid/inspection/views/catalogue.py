"""What can be seen of a look, by name."""

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from torch import nn

from pellucid.errors import UsageError, UserError, did_you_mean
from pellucid.inspection.taps import tap_names
from pellucid.inspection.views.attention import (
    alignment_view,
    attention_view,
    links_view,
    mass_view,
    positions_view,
    score_parts_view,
)
from pellucid.inspection.views.charts import save_chart
from pellucid.inspection.views.embeddings import map_view, neighbours_view
from pellucid.inspection.views.generation import beam_view, cache_view, forcing_view, over_training_view
from pellucid.inspection.views.pages import write_page
from pellucid.inspection.views.residual_stream import (
    effect_view,
    gradients_view,
    identity_view,
    lens_view,
    rank_view,
    residual_view,
    saturation_view,
)
from pellucid.inspection.views.view import View, ViewRequest, ViewType

__all__ = ["VIEWS", "build_view", "save_view", "taps_for_view", "view_type_of", "views_of_all"]

MOST_CELLS = 120_000  # numbers of a view in a page that has them all


def build_view(request: ViewRequest, name: str = "") -> View:
    """Return a view.

    Args:
        asked: the look and what of it.
        name: of the view; that of the decoder's eyes unless given: cross-attention, or a language model's own.

    Raises:
        UsageError: for a view that does not exist, or a layer or head that it does not have.
        UserError: where it does not exist for this model, with the reason.
    """
    name = name or ("alignment" if request.look.source else "decoder-attention")
    view_type = view_type_of(name)
    view_type.reject_unsupported(name, request.layer, request.head)
    return replace(view_type.make(request), name=name, title=view_type.title)


def taps_for_view(model: nn.Module, name: str) -> list[str]:
    """Return the numbers that a look must hold for a view, by names and patterns; those that the model has."""
    known = tap_names(model)
    return [pattern for pattern in view_type_of(name).what if any(fnmatchcase(one, pattern) for one in known)]


def save_view(request: ViewRequest, path: str | Path, name: str = "", *, dark: bool = False) -> None:
    """Write a view as .png, .svg, .json or .html; without a name a page has all views that there are for this look."""
    if Path(path).suffix.lower() != ".html":
        save_chart(build_view(request, name).chart(), path, dark=dark)
        return
    if name:
        write_page(path, request.look, [build_view(request, name)])
        return
    views, left_out = views_of_all(request)
    write_page(path, request.look, views, left_out)


def views_of_all(request: ViewRequest) -> tuple[list[View], list[str]]:
    """Return every view that there is for a look, and the names of those that are too large to stand with others.

    Raises:
        UsageError: if no view has the layer or the head that is asked for.
    """
    views, left_out, refused = [], [], []
    given = {which for which, number in (("layer", request.layer), ("head", request.head)) if number is not None}
    is_found = False
    for name, view_type in VIEWS.items():
        try:
            view = build_view(view_type.without_unsupported(request), name)
        except UsageError as error:  # no such layer or head here; another part of the model may have it
            refused.append(error)
            continue
        except UserError:  # not for this model, or of numbers that were not recorded
            continue
        is_found |= given <= set(view_type.selectable)
        if sum(array.values.size for array in view.arrays[:1]) <= MOST_CELLS:
            views.append(view)
        else:
            left_out.append(name)
    if refused and not is_found:
        raise refused[0]
    return views, left_out


def view_type_of(name: str) -> ViewType:
    """Find the type of view with this name.

    Raises:
        UsageError: for a view that does not exist.
    """
    if name not in VIEWS:
        raise UsageError(f"there is no view {name}", where="--view", hint=did_you_mean(name, VIEWS))
    return VIEWS[name]


_STREAM = ("embedding.*", "*.head_output", "*.feed_forward.output", "*.residual.input", "*.residual.output")

VIEWS: dict[str, ViewType] = {
    "alignment": ViewType(
        "Where it looked to write each token", ("decoder.*.cross_attention.weights", "logits"), alignment_view,
        ("layer", "head"),
    ),
    "cross-attention": ViewType(
        "Cross-attention, every head", ("decoder.*.cross_attention.weights", "decoder.*.cross_attention.scores"),
        lambda request: attention_view(request, "decoder", "cross_attention"), ("layer", "head"),
    ),
    "encoder-attention": ViewType(
        "The encoder's self-attention, every head",
        ("encoder.*.self_attention.weights", "encoder.*.self_attention.scores"),
        lambda request: attention_view(request, "encoder", "self_attention"), ("layer", "head"),
    ),
    "decoder-attention": ViewType(
        "The decoder's self-attention, every head",
        ("decoder.*.self_attention.weights", "decoder.*.self_attention.scores", "logits"),
        lambda request: attention_view(request, "decoder", "self_attention"), ("layer", "head"),
    ),
    "links": ViewType(
        "Who looks at whom, as lines between a few tokens",
        ("decoder.*.cross_attention.weights", "decoder.*.self_attention.weights"), links_view, ("layer", "head"),
    ),
    "mass": ViewType("How many keys hold most of the weight", ("decoder.*.weights",), mass_view, ("layer",)),
    "score-parts": ViewType(
        "What a score is made of: content and position",
        ("embedding.*", "*.0.self_attention.scores", "*.self_attention.query", "*.self_attention.key"),
        score_parts_view, ("layer", "head"),
    ),
    "positions": ViewType("How positions are told", ("embedding.*",), positions_view),
    "residual": ViewType("What each part added to the stream", _STREAM, residual_view, ("layer",)),
    "effect": ViewType("What each part gives to the logit of the token that follows", _STREAM, effect_view),
    "lens": ViewType("What each layer would write", ("decoder.*.residual.*",), lens_view),
    "identity": ViewType("What is left of the word, layer by layer", ("*.residual.*",), identity_view),
    "rank": ViewType("How many directions are in use", ("*.residual.*",), rank_view),
    "saturation": ViewType("How decided the softmaxes are", ("*.weights",), saturation_view),
    "neighbours": ViewType("Tokens with the most similar embeddings", ("embedding.*",), neighbours_view),
    "map": ViewType("Where the text's embeddings lie", ("embedding.*",), map_view),
    "gradients": ViewType("What this text would teach", ("embedding.*",), gradients_view),
    "cache": ViewType("What the key–value cache holds", ("embedding.*",), cache_view),
    "forcing": ViewType("Given words and its own words", ("logits",), forcing_view),
    "beam": ViewType("The tree of the search", ("embedding.*",), beam_view),
    "over-training": ViewType("A head over training", ("embedding.*",), over_training_view, ("layer", "head")),
}  # fmt: skip

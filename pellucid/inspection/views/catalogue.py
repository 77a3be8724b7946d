"""The views of a look, by name."""

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
from pellucid.inspection.views.generation import (
    beam_search_view,
    kv_cache_view,
    teacher_forcing_view,
    training_dynamics_view,
)
from pellucid.inspection.views.pages import write_page
from pellucid.inspection.views.residual_stream import (
    effective_rank_view,
    gradients_view,
    logit_attribution_view,
    logit_lens_view,
    residual_view,
    saturation_view,
    token_identity_view,
)
from pellucid.inspection.views.view import View, ViewRequest, ViewType

__all__ = ["VIEWS", "build_all_views", "build_view", "default_view", "save_view", "taps_for_view", "view_type_of"]

MOST_CELLS = 120_000  # numbers of one view on a page with all views


def build_view(request: ViewRequest, name: str = "") -> View:
    """Build a view.

    Raises:
        UsageError: for a view that does not exist, or a layer or head that it does not have.
        UserError: if this model has no such view, with the reason.
    """
    name = name or default_view(is_translator=bool(request.look.source))
    view_type = view_type_of(name)
    view_type.reject_unsupported(name, request.layer, request.head)
    return replace(view_type.build(request), name=name, title=view_type.title)


def default_view(*, is_translator: bool) -> str:
    """Name the view of where the decoder looks: the alignment, or a language model's self-attention."""
    return "alignment" if is_translator else "decoder-attention"


def taps_for_view(model: nn.Module, name: str) -> list[str]:
    """List the taps that a view needs, by names and patterns; those that the model has."""
    known = tap_names(model)
    return [pattern for pattern in view_type_of(name).taps if any(fnmatchcase(one, pattern) for one in known)]


def save_view(request: ViewRequest, path: str | Path, name: str = "", *, dark: bool = False) -> None:
    """Write a view as .png, .svg, .json or .html; a page without a name has every view of the look."""
    if Path(path).suffix.lower() != ".html":
        save_chart(build_view(request, name).chart(), path, dark=dark)
    elif name:
        write_page(path, request.look, [build_view(request, name)])
    else:
        write_page(path, request.look, *build_all_views(request))


def build_all_views(request: ViewRequest) -> tuple[list[View], list[str]]:
    """Build every view of a look, and name those that are too large to share a page.

    Raises:
        UsageError: if no view has the requested layer or head.
    """
    views, too_large, errors = [], [], []
    requested = {which for which, number in (("layer", request.layer), ("head", request.head)) if number is not None}
    is_selected = False
    for name, view_type in VIEWS.items():
        try:
            view = build_view(view_type.without_unsupported(request), name)
        except UsageError as error:  # this part of the model has no such layer or head; another may have it
            errors.append(error)
            continue
        except UserError:  # not for this model, or its taps were not recorded
            continue
        is_selected |= requested <= set(view_type.selectable)
        if view.arrays[0].values.size <= MOST_CELLS:
            views.append(view)
        else:
            too_large.append(name)
    if errors and not is_selected:
        raise errors[0]
    return views, too_large


def view_type_of(name: str) -> ViewType:
    """Look up a view by name.

    Raises:
        UsageError: for a view that does not exist.
    """
    if name not in VIEWS:
        raise UsageError(f"there is no view {name}", where="--view", hint=did_you_mean(name, VIEWS))
    return VIEWS[name]


_RESIDUAL = ("embedding.*", "*.head_output", "*.feed_forward.output", "*.residual.input", "*.residual.output")
_ATTENTION = ("layer", "head")

VIEWS: dict[str, ViewType] = {
    "alignment": ViewType(
        "Where the decoder looked to predict each token", ("decoder.*.cross_attention.weights", "logits"),
        alignment_view, _ATTENTION,
    ),
    "cross-attention": ViewType(
        "Cross-attention, every head", ("decoder.*.cross_attention.weights", "decoder.*.cross_attention.scores"),
        lambda request: attention_view(request, "decoder", "cross_attention"), _ATTENTION,
    ),
    "encoder-attention": ViewType(
        "Self-attention of the encoder, every head",
        ("encoder.*.self_attention.weights", "encoder.*.self_attention.scores"),
        lambda request: attention_view(request, "encoder", "self_attention"), _ATTENTION,
    ),
    "decoder-attention": ViewType(
        "Self-attention of the decoder, every head",
        ("decoder.*.self_attention.weights", "decoder.*.self_attention.scores", "logits"),
        lambda request: attention_view(request, "decoder", "self_attention"), _ATTENTION,
    ),
    "links": ViewType(
        "Attention as lines between a few tokens",
        ("decoder.*.cross_attention.weights", "decoder.*.self_attention.weights"), links_view, _ATTENTION,
    ),
    "attention-mass": ViewType(
        "How many keys hold most of the weight", ("decoder.*.weights",), mass_view, ("layer",)
    ),
    "score-parts": ViewType(
        "Attention scores split into content and position",
        ("embedding.*", "*.0.self_attention.scores", "*.self_attention.query", "*.self_attention.key"),
        score_parts_view, _ATTENTION,
    ),
    "positions": ViewType("How the model encodes positions", ("embedding.*",), positions_view),
    "residual": ViewType("What each part adds to the residual stream", _RESIDUAL, residual_view, ("layer",)),
    "logit-attribution": ViewType(
        "Direct effect of each part on the logit of the next token", _RESIDUAL, logit_attribution_view
    ),
    "logit-lens": ViewType("What each layer would predict", ("decoder.*.residual.*",), logit_lens_view),
    "token-identity": ViewType(
        "How much of each token is left, layer by layer", ("*.residual.*",), token_identity_view
    ),
    "effective-rank": ViewType("How many dimensions the states use", ("*.residual.*",), effective_rank_view),
    "saturation": ViewType("Saturation of the softmaxes", ("*.weights",), saturation_view),
    "neighbours": ViewType("Tokens with the most similar embeddings", ("embedding.*",), neighbours_view),
    "map": ViewType("Map of the text's embeddings", ("embedding.*",), map_view),
    "gradients": ViewType("Gradients of this text", ("embedding.*",), gradients_view),
    "kv-cache": ViewType("Contents of the key–value cache", ("embedding.*",), kv_cache_view),
    "teacher-forcing": ViewType("Teacher forcing and free running", ("logits",), teacher_forcing_view),
    "beam-search": ViewType("Tree of the beam search", ("embedding.*",), beam_search_view),
    "training-dynamics": ViewType(
        "An attention head at every checkpoint", ("embedding.*",), training_dynamics_view, _ATTENTION
    ),
}  # fmt: skip

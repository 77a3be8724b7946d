"""What can be seen of a look, by name."""

from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from torch import nn

from pellucid.errors import UsageError, UserError
from pellucid.inspection.charts import save_chart
from pellucid.inspection.pages import write_page
from pellucid.inspection.tap_table import tap_names
from pellucid.inspection.view import Asked, Kind, View
from pellucid.inspection.views_of_attention import (
    alignment_view,
    attention_view,
    links_view,
    mass_view,
    positions_view,
    score_parts_view,
)
from pellucid.inspection.views_of_streams import (
    effect_view,
    gradients_view,
    identity_view,
    lens_view,
    rank_view,
    residual_view,
    saturation_view,
)
from pellucid.inspection.views_of_words import map_view, neighbours_view
from pellucid.inspection.views_of_writing import beam_view, cache_view, forcing_view, over_training_view

__all__ = ["VIEWS", "kind_of", "save_view", "view_of", "views_of_all", "what_of"]

MOST_CELLS = 120_000  # numbers of a view in a page that has them all


def view_of(asked: Asked, name: str = "") -> View:
    """Return a view.

    Args:
        asked: the look and what of it.
        name: of the view; that of the decoder's eyes unless given: cross-attention, or a language model's own.

    Raises:
        UsageError: for a view that does not exist, or a layer or head that it does not have.
        UserError: where it does not exist for this model, with the reason.
    """
    name = name or ("alignment" if asked.look.source else "decoder-attention")
    kind = kind_of(name)
    kind.refuse(name, asked.layer, asked.head)
    return replace(kind.make(asked), name=name, title=kind.title)


def what_of(model: nn.Module, name: str) -> list[str]:
    """Return the numbers that a look must hold for a view, by names and patterns; those that the model has."""
    known = tap_names(model)
    return [pattern for pattern in kind_of(name).what if any(fnmatchcase(one, pattern) for one in known)]


def save_view(asked: Asked, path: str | Path, name: str = "", *, dark: bool = False) -> None:
    """Write a view as .png, .svg, .json or .html; without a name a page has all views that there are for this look."""
    if Path(path).suffix.lower() != ".html":
        save_chart(view_of(asked, name).chart(), path, dark=dark)
        return
    if name:
        write_page(path, asked.look, [view_of(asked, name)])
        return
    views, left_out = views_of_all(asked)
    write_page(path, asked.look, views, left_out)


def views_of_all(asked: Asked) -> tuple[list[View], list[str]]:
    """Return every view that there is for a look, and the names of those that are too large to stand with others.

    Raises:
        UsageError: if no view has the layer or the head that is asked for.
    """
    views, left_out, refused = [], [], []
    given = {which for which, number in (("layer", asked.layer), ("head", asked.head)) if number is not None}
    is_found = False
    for name, kind in VIEWS.items():
        try:
            view = view_of(kind.narrowed(asked), name)
        except UsageError as error:  # no such layer or head here; another part of the model may have it
            refused.append(error)
            continue
        except UserError:  # not for this model, or of numbers that were not recorded
            continue
        is_found |= given <= set(kind.narrows)
        if sum(array.values.size for array in view.arrays[:1]) <= MOST_CELLS:
            views.append(view)
        else:
            left_out.append(name)
    if refused and not is_found:
        raise refused[0]
    return views, left_out


def kind_of(name: str) -> Kind:
    """Return what a name of a view stands for.

    Raises:
        UsageError: for a view that does not exist.
    """
    if name not in VIEWS:
        near = get_close_matches(name, VIEWS, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(VIEWS)}."
        raise UsageError(f"there is no view {name}", where="--view", hint=hint)
    return VIEWS[name]


_STREAM = ("embedding.*", "*.mixed", "*.feed_forward.output", "*.residual.input", "*.residual.output")

VIEWS: dict[str, Kind] = {
    "alignment": Kind(
        "Where it looked to write each token", ("decoder.*.cross_attention.weights", "logits"), alignment_view,
        ("layer", "head"),
    ),
    "cross-attention": Kind(
        "Cross-attention, every head", ("decoder.*.cross_attention.weights", "decoder.*.cross_attention.scores"),
        lambda asked: attention_view(asked, "decoder", "cross_attention"), ("layer", "head"),
    ),
    "encoder-attention": Kind(
        "The encoder's self-attention, every head",
        ("encoder.*.self_attention.weights", "encoder.*.self_attention.scores"),
        lambda asked: attention_view(asked, "encoder", "self_attention"), ("layer", "head"),
    ),
    "decoder-attention": Kind(
        "The decoder's self-attention, every head",
        ("decoder.*.self_attention.weights", "decoder.*.self_attention.scores", "logits"),
        lambda asked: attention_view(asked, "decoder", "self_attention"), ("layer", "head"),
    ),
    "links": Kind(
        "Who looks at whom, as lines between a few tokens",
        ("decoder.*.cross_attention.weights", "decoder.*.self_attention.weights"), links_view, ("layer", "head"),
    ),
    "mass": Kind("How many keys hold most of the weight", ("decoder.*.weights",), mass_view, ("layer",)),
    "score-parts": Kind(
        "What a score is made of: content and position",
        ("embedding.*", "*.0.self_attention.scores", "*.self_attention.query", "*.self_attention.key"),
        score_parts_view, ("layer", "head"),
    ),
    "positions": Kind("How positions are told", ("embedding.*",), positions_view),
    "residual": Kind("What each part added to the stream", _STREAM, residual_view, ("layer",)),
    "effect": Kind("What each part gives to the logit of the token that follows", _STREAM, effect_view),
    "lens": Kind("What each layer would write", ("decoder.*.residual.*",), lens_view),
    "identity": Kind("What is left of the word, layer by layer", ("*.residual.*",), identity_view),
    "rank": Kind("How many directions are in use", ("*.residual.*",), rank_view),
    "saturation": Kind("How decided the softmaxes are", ("*.weights",), saturation_view),
    "neighbours": Kind("Tokens with the most similar embeddings", ("embedding.*",), neighbours_view),
    "map": Kind("Where the text's embeddings lie", ("embedding.*",), map_view),
    "gradients": Kind("What this text would teach", ("embedding.*",), gradients_view),
    "cache": Kind("What the key–value cache holds", ("embedding.*",), cache_view),
    "forcing": Kind("Given words and its own words", ("logits",), forcing_view),
    "beam": Kind("The tree of the search", ("embedding.*",), beam_view),
    "over-training": Kind("A head over training", ("embedding.*",), over_training_view, ("layer", "head")),
}  # fmt: skip

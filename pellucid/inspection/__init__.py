"""Weights and a text → every number on the way, labelled, true, and changeable."""

from typing import TYPE_CHECKING

from pellucid.lazy import lazy_names

if TYPE_CHECKING:
    from pellucid.inspection.labelled import LabelledArray
    from pellucid.inspection.look import Look, Looks

__all__ = ["LabelledArray", "Look", "Looks"]

__getattr__, __dir__ = lazy_names(__name__, {"LabelledArray": "labelled", "Look": "look", "Looks": "look"})

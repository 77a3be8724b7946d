"""Experiments train many small models; the shapes in their signatures are checked by the tests of the models."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture(autouse=True)
def unchecked_shapes() -> Iterator[None]:
    """Switch off the checks of shapes, which take a third of the time of an experiment."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)

"""Flags of `pellucid train vectors` and `vectors stability`: the fields of `VectorsConfig`."""

from typing import Annotated, Any

from cyclopts import Parameter

from pellucid.word_vectors.config import VectorsConfig

__all__ = ["DEFAULT_VECTOR_FLAGS", "VectorFlags"]


class VectorFlags(VectorsConfig):
    """`VectorsConfig` as flags; names, defaults and help come from its fields."""

    dim: Annotated[int, Parameter(name=["--dimension", "-d"])] = VectorsConfig.model_fields["dim"]  # type: ignore[assignment]

    def given(self) -> dict[str, Any]:
        """List the settings given on the command line, by their names in `VectorsConfig`."""
        return self.model_dump(exclude_unset=True)


DEFAULT_VECTOR_FLAGS = VectorFlags()

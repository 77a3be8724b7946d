"""Settings from files of other programs, read by name and validated."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from pellucid.errors import UserError
from pellucid.models.decoder_only_config import DecoderOnlyConfig

__all__ = ["ForeignSettings", "build_config"]

_LARGEST = 10**18  # no setting of any model is beyond


class ForeignSettings:
    """The settings of a model's file.

    Args:
        where: the file, for errors.
        prefix: what stands before every name in the file.
    """

    def __init__(self, values: Mapping[str, Any], where: str, prefix: str = "") -> None:
        self.values = values
        self.where = where
        self.prefix = prefix

    def get(self, name: str) -> Any:
        """Look up a setting; None if it is missing."""
        return self.values.get(self.prefix + name)

    def whole(self, name: str, default: int | None = None) -> int:
        """Read an integer.

        Raises:
            UserError: if it is missing without a default, or something else.
        """
        return int(self._number(name, (int,), default))

    def real(self, name: str, default: float | None = None) -> float:
        """Read a number.

        Raises:
            UserError: if it is missing without a default, or something else.
        """
        return float(self._number(name, (int, float), default))

    def flag(self, name: str, default: bool) -> bool:
        """Read a boolean.

        Raises:
            UserError: if it is something else.
        """
        value = self.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.refusal(
                f"{self.prefix}{name} is {value!r}, expected true or false",
                "The file may be of another kind of model, or damaged.",
            )
        return value

    def inner(self, *names: str) -> "ForeignSettings":
        """Read the nested settings under the first of these names that exists; empty if none does.

        Raises:
            UserError: if it holds something else.
        """
        for name in names:
            value = self.get(name)
            if value and not isinstance(value, Mapping):
                raise self.refusal(
                    f"{self.prefix}{name} is {value!r}, expected settings with names", "The file may be damaged."
                )
            if value:
                return ForeignSettings(value, self.where)
        return ForeignSettings({}, self.where)

    def family(self, name: str, known: Collection[str]) -> str:
        """Read the model's architecture, one of those known.

        Raises:
            UserError: if it is another.
        """
        value = self.values.get(name)
        if not isinstance(value, str) or value not in known:
            raise self.refusal(
                f"the architecture {value} is not known; known are {', '.join(sorted(known))}",
                "Other architectures compute something else, so their weights would not mean the same.",
            )
        return value

    def expect(self, name: str, *allowed: object) -> None:
        """Check that a setting, if present, has one of the values that Pellucid supports.

        Raises:
            UserError: if it has another, which would change what the model says.
        """
        value = self.get(name)
        if value is not None and value not in allowed:
            known = " or ".join(repr(one) for one in allowed)
            raise self.refusal(
                f"{self.prefix}{name} is {value!r}, which is not known here; expected {known}",
                "Computed otherwise the model would say something else than it does where it comes from.",
            )

    def refusal(self, what: str, hint: str) -> UserError:
        """Create an error about this file."""
        return UserError(what, where=self.where, hint=hint)

    def _number(self, name: str, kinds: tuple[type[float], ...], default: float | None) -> float:
        value = self.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, kinds) or isinstance(value, bool) or abs(value) > _LARGEST:
            found = "is missing" if value is None else f"is {value!r}, expected a number"
            raise self.refusal(f"{self.prefix}{name} {found}", "The file may be of another kind of model, or damaged.")
        return value


def build_config(fields: ForeignSettings, **settings: Any) -> DecoderOnlyConfig:
    """Build the configuration of our model.

    Raises:
        UserError: if the sizes do not fit together.
    """
    try:
        return DecoderOnlyConfig(**settings)
    except ValidationError as error:
        first = error.errors()[0]
        what = f"the sizes do not make a model: {'.'.join(map(str, first['loc']))} {first['msg']}"
        raise fields.refusal(what.replace(" Value error,", ""), "The file may be damaged.") from error

"""`Translator`: the translator that users hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from pellucid.errors import UserError
from pellucid.generation.translate import OnProgress, translate_texts
from pellucid.generation.translation import Translation
from pellucid.generation.translation_model import TranslationModel
from pellucid.plurals import pluralize

if TYPE_CHECKING:
    from pellucid.inspection import Look, LookBatch, WhatIf

__all__ = ["Translator"]


class Translator(TranslationModel):
    """A model that translates texts. Load one with `pellucid.load(folder)` or `Translator.load(folder)`."""

    @overload
    def translate(
        self,
        text: str,
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: Sequence[str],
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | Sequence[str],
        *,
        prefix: str | Sequence[str] = "",
        alignment: bool = False,
        on_progress: OnProgress | None = None,
        **settings: Any,
    ) -> Translation | list[Translation]:
        r"""Translate a text, or each of several, in order; blank texts are returned unchanged.

        Line ends within a text (`\n`, `\r\n`) are kept. A line of more than `split_above` tokens is split at sentence
        ends; the parts are translated separately and joined again. In float32, a translation never depends on the
        other texts.

        Args:
            text: one text or several.
            prefix: how the translation must begin; one for all texts, or one for each.
            alignment: whether to compute which target token came from which source token.
            on_progress: called with the number of parts done since the last call.
            settings: fields of GenerationConfig, such as `beam=5` or `n_best=3`.

        Raises:
            UserError: for an unknown setting or an invalid value.
        """
        texts = [text] if isinstance(text, str) else list(text)
        if not all(isinstance(one, str) for one in texts):
            raise UserError("expected a text or a list of texts", where="text", hint="Pass a str or a list of str.")
        prefixes = [prefix] * len(texts) if isinstance(prefix, str) else list(prefix)
        if len(prefixes) != len(texts):
            given = pluralize(len(prefixes), "prefix", "prefixes")
            raise UserError(
                f"{pluralize(len(texts), 'text')}, but {given}",
                where="prefix",
                hint="Pass one prefix for all texts, or one for each.",
            )
        config = self.settings(**settings)
        progress = on_progress or (lambda count: None)
        found = translate_texts(self, texts, prefixes, config, alignment=alignment, on_progress=progress)
        return found[0] if isinstance(text, str) else found

    @overload
    def look(  # type: ignore[overload-overlap]  # a text is a sequence of texts to the type checker
        self, text: str, *, target: str | None = None, prefix: str = "", what: Sequence[str] | None = None
    ) -> "Look": ...

    @overload
    def look(
        self,
        text: Sequence[str],
        *,
        target: Sequence[str] | None = None,
        prefix: str = "",
        what: Sequence[str] | None = None,
    ) -> "LookBatch": ...

    def look(
        self,
        text: str | Sequence[str],
        *,
        target: str | Sequence[str] | None = None,
        prefix: str = "",
        what: Sequence[str] | None = None,
    ) -> "Look | LookBatch":
        """Record every number while the model translates a text: see `pellucid.inspection.look_at_translator`."""
        from pellucid.inspection import look_at_translator

        return look_at_translator(self, text, target=target, prefix=prefix, what=what)

    def what_if(self, text: str, *, target: str | None = None) -> "WhatIf":
        """Prepare a run with edited numbers: see `pellucid.inspection.what_if.WhatIf`."""
        from pellucid.inspection import what_if_translator

        return what_if_translator(self, text, target=target)

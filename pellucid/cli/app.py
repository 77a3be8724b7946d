"""The program `pellucid`: finds the command, reads its flags, and turns what goes wrong into words and an exit code.

Exit codes: 0 done · 1 the user must mend something (UserError) · 2 wrong usage (UsageError) · 70 a mistake of
Pellucid's own · 130 stopped by Ctrl-C · 141 nobody reads stdout any more. With `--json` an error is one line of JSON on
stderr with the fields error, where and hint; stdout then holds no answer.

A command's module is loaded when it is asked for: `pellucid --help` loads neither PyTorch nor Numba.
"""

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from inspect import BoundArguments
from typing import Any

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownCommandError, UnusedCliTokensError

import pellucid
from pellucid.cli import console
from pellucid.cli.flags import Flags
from pellucid.cli.settings import split_settings
from pellucid.errors import UsageError, UserError, did_you_mean

__all__ = ["build_app", "main"]

_COMMANDS = {
    "demo": ("pellucid.cli.demo:demo", "Train the built-in zh→en translator and translate with it."),
    "doctor": ("pellucid.cli.doctor:doctor", "Say what is wrong with a text, by file and line."),
    "translate": ("pellucid.cli.translate:translate", "Translate a text with a trained model."),
    "generate": ("pellucid.cli.generate:generate", "Let a language model go on with a text."),
    "chat": ("pellucid.cli.chat:chat", "Talk to a language model that has been taught to converse."),
    "score": (
        "pellucid.cli.score:score",
        "Give the log-probability of given translations or texts, per token and in total.",
    ),
    "evaluate": (
        "pellucid.cli.evaluate:evaluate",
        "Measure a translator (BLEU, chrF), a language model (perplexity) or word vectors (analogies).",
    ),
    "look": ("pellucid.cli.look:look", "Look inside a model while it reads a text."),
    "align": ("pellucid.cli.align:align", "Align the words of parallel text."),
    "import": (
        "pellucid.cli.import_model:import_model",
        "Turn a GGUF file or a Hugging Face folder into a model folder.",
    ),
    "info": ("pellucid.cli.info:info", "Say what a model is: sizes, parameters by part, data, training, scores."),
}
_TRAIN_COMMANDS = {
    "translator": ("pellucid.cli.train:translator", "Train a translator from sentence pairs."),
    "lm": ("pellucid.cli.train_lm:lm", "Train a language model from a text."),
    "vectors": ("pellucid.cli.train_vectors:vectors", "Train word vectors from a text."),
    "settings": (
        "pellucid.cli.recipe_settings:recipe_settings",
        "List the settings of a recipe, each with what it is.",
    ),
}
_VECTORS_COMMANDS = {
    "similar": ("pellucid.cli.vectors:similar", "Find the words of highest cosine with a word."),
    "analogy": ("pellucid.cli.vectors:analogy", "Find the word that is to C as B is to A."),
    "odd-one-out": ("pellucid.cli.vectors:odd_one_out", "Find the word that does not belong."),
    "axis": ("pellucid.cli.vectors:axis", "Place words on the axis between two groups."),
    "bias": ("pellucid.cli.vectors:bias", "Test whether words lean, by WEAT or RIPA."),
    "align": ("pellucid.cli.vectors:align", "Say which words have moved between two spaces."),
    "neighbours": (
        "pellucid.cli.vectors_of_text:neighbours",
        "Find a word's neighbours and the sentences they stand in.",
    ),
    "stability": (
        "pellucid.cli.vectors_of_text:stability",
        "Say how far neighbours and cosines can be trusted, by many trainings.",
    ),
    "map": ("pellucid.cli.vectors_of_text:vector_map", "Draw words as a map, one page for the browser."),
    "convert": ("pellucid.cli.vectors:convert", "Turn one form of word vectors into another."),
}
_CLAIMS_COMMANDS = {
    "list": ("pellucid.cli.claims:list_claims", "List the statements that can be put to the test."),
    "run": ("pellucid.cli.claims:run", "Measure statements and give their verdicts."),
}
_GROUPS = {"train": _TRAIN_COMMANDS, "vectors": _VECTORS_COMMANDS, "claims": _CLAIMS_COMMANDS}


def build_app() -> App:
    """Return the commands of `pellucid`; none of their modules is loaded yet."""
    app = App(
        name="pellucid",
        help="Train word vectors, translators and language models from your own text, and see every number.",
        version=pellucid.__version__,
        help_format="plaintext",
        result_action="return_value",
    )
    train = App(name="train", help="Train a model from your own text.", sort_key=2)
    vectors = App(name="vectors", help="Ask word vectors, and convert their files.", sort_key=len(_COMMANDS) + 1)
    claims = App(name="claims", help="Put what is said of these models to the test.", sort_key=len(_COMMANDS) + 2)
    for place, (name, (path, help_line)) in enumerate(_COMMANDS.items()):
        app.command(path, name=name, help=help_line, sort_key=place if place < 2 else place + 1)
    for group, commands in ((train, _TRAIN_COMMANDS), (vectors, _VECTORS_COMMANDS), (claims, _CLAIMS_COMMANDS)):
        for name, (path, help_line) in commands.items():
            group.command(path, name=name, help=help_line)
        app.command(group)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (that of the process if not given) and return the exit code."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in tokens[: tokens.index("--") if "--" in tokens else None]
    console.use_utf8()
    try:
        code = _run(tokens)
        if sys.stdout is not None:  # closed, as by `>&-`
            sys.stdout.flush()
    except UserError as mistake:
        console.error(mistake, as_json=as_json)
        return mistake.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # What is still to be flushed at the end of the process must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception:
        console.internal_error(traceback.format_exc())
        return 70
    return code


def _run(tokens: list[str]) -> int:
    app = build_app()
    rest, settings = split_settings(tokens)
    _describe(app, rest)
    command, bound, unparsed = _parse(app, rest)
    if "settings" in unparsed:
        bound.arguments["settings"] = settings
    elif settings:
        raise _no_settings(rest, settings)
    console.set_quiet(False)  # whatever a command before, in the same process, was told
    for value in bound.arguments.values():
        if isinstance(value, Flags):
            value.apply()
    code = command(*bound.args, **bound.kwargs)
    return code if isinstance(code, int) else 0


def _describe(app: App, tokens: list[str]) -> None:
    """Let a command's own page of help say all that its docstring says, and not only its line in the list."""
    if not {"--help", "-h"} & set(tokens):
        return
    inside, commands = app, _COMMANDS
    if tokens[0] in _GROUPS:
        inside, commands, tokens = app[tokens[0]], _GROUPS[tokens[0]], tokens[1:]
    if tokens[0] in commands:
        path, _ = commands[tokens[0]]
        module, _, name = path.partition(":")
        whole = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
        inside[tokens[0]].help = _unwrapped(whole.partition("\nArgs:")[0].strip())


def _unwrapped(text: str) -> str:
    """Return a text with a line for each paragraph; the terminal's width wraps it anew."""
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in text.split("\n\n"))


def _parse(app: App, tokens: list[str]) -> tuple[Callable[..., Any], BoundArguments, Mapping[str, Any]]:
    try:
        return app.parse_args(tokens, exit_on_error=False, print_error=False)
    except UnknownCommandError as error:
        raise _unknown_command(error) from error
    except CycloptsError as error:
        raise _wrong_usage(error) from error


def _unknown_command(error: UnknownCommandError) -> UsageError:
    words = list(error.command_chain or ())
    known = list(_GROUPS.get(" ".join(words), ["train", *_COMMANDS, "vectors", "claims"]))
    name = (error.unused_tokens or [""])[0]
    if name.startswith("-"):
        return UsageError(f"unknown option {name}", where="pellucid", hint="`pellucid --help` lists the commands.")
    program = " ".join(["pellucid", *words])
    hint = did_you_mean(name, known, f"`{program}` has the commands {', '.join(known)}.", f"`{program} {{}}`")
    return UsageError(f"unknown command {name}", where=f"{program} {name}", hint=hint)


def _wrong_usage(error: CycloptsError) -> UsageError:
    """Say in our form what cyclopts says in its own: `Unknown option: --beem. Did you mean --beam?`."""
    program = " ".join(["pellucid", *(error.command_chain or ())])
    what, _, near = str(error).partition(" Did you mean ")
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        what = f"unexpected argument {error.unused_tokens[0]}"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        what = f"{error.keyword} needs a value" if error.keyword else f"{error.argument.name} is missing"
    else:
        what = what.rstrip(".")
        what = what[:1].lower() + what[1:]
    hint = f"Did you mean {near}" if near else f"`{program} --help` lists what it takes."
    return UsageError(what, where=program, hint=hint)


def _no_settings(tokens: Sequence[str], settings: Mapping[str, str]) -> UsageError:
    name = next(iter(settings))
    if list(tokens[:2]) == ["train", "vectors"]:
        return UsageError(
            f"word vectors have no setting {name}",
            where="pellucid train vectors",
            hint="Theirs are flags without a dot, as --epochs 5; `pellucid train vectors --help` lists them.",
        )
    return UsageError(
        f"only training takes settings such as --{name}",
        where=" ".join(["pellucid", *[token for token in tokens[:1] if not token.startswith("-")]]),
        hint=f"Leave --{name} out; flags of a command have no dot in their name.",
    )

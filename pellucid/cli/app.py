"""The program `pellucid`: find the command, parse its flags, report errors.

Exit codes: 0 success · 1 the user must fix something (UserError) · 2 wrong usage (UsageError) · 70 a bug in Pellucid ·
130 stopped by Ctrl-C · 141 nobody reads stdout any more. With `--json` an error is one line of JSON on stderr with the
fields error, where and hint, and stdout stays empty.

A command's module is imported only when the command runs: `pellucid --help` loads neither PyTorch nor Numba.
"""

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from inspect import BoundArguments
from typing import Any, NamedTuple

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from pydantic import ValidationError

import pellucid
from pellucid.cli import console
from pellucid.cli.flags import Flags
from pellucid.errors import UsageError, UserError, did_you_mean

__all__ = ["COMMANDS", "Command", "build_app", "main"]


class Command(NamedTuple):
    """A command: its `module:function` in this folder, and its line in the list of commands: its docstring's first."""

    path: str
    help: str


GROUPS = {
    "train": "Train a model on your own text.",
    "vectors": "Query and convert word vectors.",
    "claims": "Test common claims about these models by experiment.",
}
"""The first words that several commands share, with their lines in the list of commands."""

COMMANDS = {
    "demo": Command("demo:demo", "Train the built-in Chinese–English translator and translate with it."),
    "doctor": Command("doctor:doctor", "Check a text for problems, by file and line."),
    "train translator": Command("train:translator", "Train a translator on sentence pairs."),
    "train lm": Command("train:lm", "Train a language model on text, or on prompts and their completions."),
    "train vectors": Command("train_vectors:vectors", "Train word vectors on text with one sentence per line."),
    "train settings": Command(
        "recipe_settings:recipe_settings", "List a recipe's settings with their descriptions and possible values."
    ),
    "translate": Command("translate:translate", "Translate text with a trained model."),
    "generate": Command("generate:generate", "Generate text from a prompt."),
    "chat": Command("chat:chat", "Chat with an instruction-tuned model."),
    "score": Command("score:score", "Compute the log-probability of given translations or texts."),
    "evaluate": Command(
        "evaluate:evaluate",
        "Evaluate a translator (BLEU, chrF), a language model (perplexity) or word vectors (analogies).",
    ),
    "look": Command("look:look", "Look inside a model while it reads a text."),
    "align": Command("align:align", "Align the words of parallel text."),
    "import": Command("import_model:import_model", "Convert a GGUF file or a Hugging Face folder to a model folder."),
    "info": Command("info:info", "Show a model's sizes, parameters, data, training and scores."),
    "vectors similar": Command("vectors:similar", "Find the words most similar to each word given."),
    "vectors analogy": Command("vectors:analogy", "Solve an analogy: a is to b as c is to which word?"),
    "vectors odd-one-out": Command("vectors:odd_one_out", "Find the word that does not belong."),
    "vectors axis": Command("vectors:axis", "Place words on the axis between two groups of words."),
    "vectors bias": Command("vectors:bias", "Measure bias with WEAT or RIPA."),
    "vectors drift": Command("vectors:drift", "Measure how far words have moved between two sets of vectors."),
    "vectors neighbours": Command(
        "vectors_of_text:neighbours", "Find a word's neighbours and sentences that contain them."
    ),
    "vectors stability": Command(
        "vectors_of_text:stability", "Measure the stability of neighbours and scores over many trainings."
    ),
    "vectors map": Command("vectors_of_text:vector_map", "Write a map of words as an HTML page."),
    "vectors convert": Command("vectors:convert", "Convert word vectors to another file format."),
    "claims list": Command("claims:list_claims", "List the claims."),
    "claims run": Command("claims:run", "Run the experiments of claims and show the verdicts."),
}
"""Every command by its words, in the order of the list of commands."""


def build_app() -> App:
    """Build the cyclopts app with all commands, without importing their modules."""
    app = App(
        name="pellucid",
        help="Train word vectors, translators and language models on your own text, and see every number.",
        version=pellucid.__version__,
        help_format="markdown",
        result_action="return_value",
    )
    groups = {"": app}
    for position, (words, command) in enumerate(COMMANDS.items()):
        first, _, name = words.rpartition(" ")
        if first not in groups:
            groups[first] = App(name=first, help=GROUPS[first], sort_key=position)
            app.command(groups[first])
        groups[first].command(f"pellucid.cli.{command.path}", name=name, help=command.help, sort_key=position)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process, and return the exit code."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in tokens[: tokens.index("--") if "--" in tokens else None]
    console.use_utf8()
    try:
        code = _run(tokens)
        if sys.stdout is not None:  # closed, as by `>&-`
            sys.stdout.flush()
    except UserError as error:
        console.error(error, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Python flushes stdout once more at exit, and that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception:
        console.internal_error(traceback.format_exc())
        return 70
    return code


def _run(tokens: list[str]) -> int:
    app = build_app()
    command, bound = _parse(app, tokens)
    console.set_quiet(False)  # an earlier command in the same process may have set it
    for value in bound.arguments.values():
        if isinstance(value, Flags):
            value.apply()
    code = command(*bound.args, **bound.kwargs)
    return code if isinstance(code, int) else 0


def _parse(app: App, tokens: list[str]) -> tuple[Callable[..., Any], BoundArguments]:
    program = "pellucid"
    try:
        words, apps, _ = app.parse_commands(tokens)
        program = " ".join([program, *(word for word in words if not word.startswith("-"))])
        for found in apps:
            if found.default_command is not None and found.name[0] in words:
                found.help = None  # on its own page a command shows its whole docstring, not its line in the list
        command, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
        return command, bound
    except UnknownCommandError as error:
        raise _unknown_command(error) from error
    except CycloptsError as error:
        if isinstance(error.__cause__, ValidationError):
            raise _invalid_value(error.__cause__, program) from error
        raise _wrong_usage(error, program) from error
    except ValidationError as error:
        raise _invalid_value(error, program) from error


def _unknown_command(error: UnknownCommandError) -> UsageError:
    words = list(error.command_chain or ())
    every = (command.split() for command in COMMANDS)
    known = dict.fromkeys(command[len(words)] for command in every if command[: len(words)] == words)
    name = (error.unused_tokens or [""])[0]
    if name.startswith("-"):
        return UsageError(f"unknown option {name}", where="pellucid", hint="`pellucid --help` lists the commands.")
    program = " ".join(["pellucid", *words])
    hint = did_you_mean(name, known, f"`{program}` has the commands {', '.join(known)}.", f"`{program} {{}}`")
    return UsageError(f"unknown command {name}", where=f"{program} {name}", hint=hint)


def _wrong_usage(error: CycloptsError, program: str) -> UsageError:
    """Reword an error of cyclopts, such as `Unknown option: --beem. Did you mean --beam?`."""
    what, _, near = str(error).partition(" Did you mean ")
    if _is_setting(error):
        return _wrong_setting(error, program)
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        what = f"unexpected argument {error.unused_tokens[0]}"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        what = f"{error.keyword} needs a value" if error.keyword else f"{error.argument.name} is missing"
    else:
        what = _sentence_case(what)
    hint = f"Did you mean {near}" if near else f"`{program} --help` lists its arguments and flags."
    if isinstance(error, UnknownOptionError) and "." in (error.token.keyword or error.token.value):
        hint = "Only `pellucid train translator`, `train lm` and `demo` take settings with a dot."
    return UsageError(what, where=program, hint=hint)


def _invalid_value(error: ValidationError, program: str) -> UsageError:
    """Reword the first error of pydantic, which checks the flags that are fields of a configuration."""
    first = error.errors()[0]
    flag = ".".join(str(part) for part in first["loc"]).replace("_", "-")
    return UsageError(
        _sentence_case(first["msg"].removeprefix("Value error, ")),
        where=f"{program} --{flag}" if flag else program,
        hint=f"`{program} --help` lists its arguments and flags.",
    )


def _sentence_case(message: str) -> str:
    """Write a message of a library as Pellucid writes errors: lower case first, no full stop."""
    return message[:1].lower() + message[1:].rstrip(".")


def _is_setting(error: CycloptsError) -> bool:
    """Whether an error concerns the `**settings` of a command, where unknown options end up too."""
    return error.argument is not None and error.argument.field_info.kind is inspect.Parameter.VAR_KEYWORD


def _wrong_setting(error: CycloptsError, program: str) -> UsageError:
    option = ""
    if isinstance(error, MissingArgumentError):
        option = error.keyword or ""
    elif isinstance(error, CoercionError) and error.token is not None:
        option = error.token.keyword or ""
    if "." in option:
        return UsageError(f"{option} needs a value", where=program, hint=f"Write `{option} VALUE`.")
    if not option:
        return UsageError(
            "a setting consists of a section and a field", where=program, hint="Write `--section.field value`."
        )
    assert error.app is not None
    known = [name for argument in error.app.assemble_argument_collection() for name in argument.names]
    hint = did_you_mean(option, known, f"`{program} --help` lists its arguments and flags.")
    return UsageError(f"unknown option: {option}", where=program, hint=hint)

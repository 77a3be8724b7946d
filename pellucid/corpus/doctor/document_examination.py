"""Examine texts for a language model: what is wrong with them by file and line, and which documents are used."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.config import DOCUMENT_CHECKS, Boundary, DocumentsConfig
from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.doctor.examination import FileState, check_unchanged, file_states
from pellucid.corpus.doctor.hash_set import HashSet
from pellucid.corpus.doctor.pair_checks import find_mojibake
from pellucid.corpus.doctor.report import IssueLog, ReportedIssue, excerpt, issue_lines
from pellucid.corpus.documents import (
    BOUNDARY_WORDS,
    Document,
    RawDocument,
    detect_boundary,
    hash_document,
    is_jsonl,
    read_documents,
)
from pellucid.corpus.pairs import Location
from pellucid.errors import UsageError
from pellucid.plurals import pluralize

__all__ = ["DocumentExamination", "DocumentReport", "examine_documents"]

_BLOCK = 8192  # documents checked at once


@dataclass(frozen=True)
class DocumentReport:
    """What was found in a text of documents.

    Args:
        boundaries: what ends a document in each; None for JSONL.
        characters: the characters of those used.
        prompts: how many of those used have a prompt.
        prompt_ending: line ends or spaces that every prompt ends with, to be added to a user's prompt.
        issues: the first examples of each check, most severe level first.
        counts: in how many documents, or parts of long ones, each check found something.
    """

    files: tuple[str, ...]
    boundaries: tuple[Boundary | None, ...]
    documents: int
    usable: int
    characters: int
    prompts: int
    prompt_ending: str
    issues: tuple[ReportedIssue, ...]
    counts: dict[str, int]

    @property
    def errors(self) -> tuple[ReportedIssue, ...]:
        """The issues for which training refuses the text."""
        return tuple(issue for issue in self.issues if issue.level == "error")

    def as_dict(self) -> dict[str, object]:
        """Convert to the form of report.json."""
        return {
            "files": list(self.files),
            "boundaries": list(self.boundaries),
            "documents": self.documents,
            "usable": self.usable,
            "characters": self.characters,
            "with_prompt": self.prompts,
            "prompt_ending": self.prompt_ending,
            "issues": [issue.as_dict() for issue in self.issues],
            "counts": dict(self.counts),
        }

    def summary_lines(self, shown: int = 3) -> list[str]:
        """Format the report for people, with `shown` examples of each check; 0 gives one line per check."""
        lines = [
            f"{pluralize(len(self.files), 'file')}, {pluralize(self.documents, 'document')}, {self.usable:,} usable, "
            f"{pluralize(self.characters, 'character')}"
        ]
        for file, boundary in zip(self.files, self.boundaries, strict=True):
            if boundary is not None:
                lines.append(f"{file}: {BOUNDARY_WORDS[boundary]} is a document (data.documents {boundary})")
        return [*lines, *issue_lines(self.issues, self.counts, shown, "document")]


@dataclass(frozen=True)
class DocumentExamination:
    """An examined text: the report, and the documents that are used."""

    report: DocumentReport
    _used: NDArray[numpy.bool_] = field(repr=False)
    _states: tuple[FileState, ...] = field(repr=False)

    def documents(self) -> Iterator[Document]:
        """Yield the usable documents, long ones in parts, in file order; every call reads the files again.

        Raises:
            UserError: if a file has changed since it was examined.
        """
        check_unchanged(self.report.files, self._states)
        stream = _stream(self.report.files, self.report.boundaries)
        for raw, used in zip(stream, self._used.tolist(), strict=False):
            if used:
                yield raw.document


def examine_documents(
    files: Sequence[str | Path],
    options: DocumentsConfig,
    held_out: Callable[[], Iterator[Document]] | None = None,
    *,
    in_training: bool = False,
) -> DocumentExamination:
    """Examine a text of documents. Memory grows by 9 bytes per document.

    Args:
        files: plain texts, or JSONL with `text` or with `prompt` and `completion`; may be compressed.
        options: what a document is, and the levels of checks.
        held_out: streams documents that training must not see; these are left out.
        in_training: whether hints name the flags of training instead of the doctor's.

    Raises:
        UserError: if a file cannot be read.
        UsageError: if no file is given.
    """
    if not files:
        raise UsageError("no files given", where="text", hint="Name text files, or .jsonl files.")
    names = tuple(map(str, files))
    states = file_states(names)
    boundaries = tuple(
        None if is_jsonl(name) else detect_boundary(name) if options.documents == "auto" else options.documents
        for name in names
    )
    log = IssueLog(options.level, in_training)
    checker = _DocumentChecker(options, log, held_out)
    used = bytearray()
    documents = usable = characters = prompts = 0
    endings = set[str]()
    stream = _stream(names, boundaries)
    while block := list(islice(stream, _BLOCK)):
        good = checker.check_block(block)
        used += good.tobytes()
        documents += sum(raw.document.begins for raw in block)
        kept = [raw.document for raw, is_good in zip(block, good.tolist(), strict=True) if is_good]
        usable += sum(document.begins for document in kept)
        characters += sum(len(document.text) + len(document.prompt) for document in kept)
        with_prompt = [document.prompt for document in kept if document.prompt]
        prompts += len(with_prompt)
        endings.update(prompt[len(prompt.rstrip()) :] for prompt in with_prompt)
    if not usable and all(issue.level != "error" for issue in log.issues()):
        log.add("empty", Location(names[0], 1), f"none of {pluralize(documents, 'document')} can be used")
    counts = {check: log.counts[check] for check in DOCUMENT_CHECKS if check not in options.skip}
    ending = _common_ending(endings)
    report = DocumentReport(names, boundaries, documents, usable, characters, prompts, ending, log.issues(), counts)
    return DocumentExamination(report, numpy.frombuffer(bytes(used), numpy.bool_), states)


def _common_ending(endings: set[str]) -> str:
    """The longest ending that all of these share."""
    shortest = min(endings, key=len, default="")
    return next(shortest[i:] for i in range(len(shortest) + 1) if all(e.endswith(shortest[i:]) for e in endings))


def _stream(files: Sequence[str], boundaries: Sequence[Boundary | None]) -> Iterator[RawDocument]:
    for file, boundary in zip(files, boundaries, strict=True):
        yield from read_documents(file, boundary or "line")


class _DocumentChecker:
    """Checks documents in order, and remembers hashes of those seen before."""

    def __init__(
        self, options: DocumentsConfig, log: IssueLog, held_out: Callable[[], Iterator[Document]] | None
    ) -> None:
        self._options = options
        self._log = log
        self._known = HashSet()
        self._held_out = frozenset(map(hash_document, held_out())) if held_out is not None else frozenset()

    def check_block(self, block: Sequence[RawDocument]) -> NDArray[numpy.bool_]:
        """Check a block of documents; True for each that is used."""
        good = numpy.array([self._is_sound(raw) for raw in block])
        # Parts of a long text repeat only by chance.
        whole = [n for n, raw in enumerate(block) if good[n] and raw.document.begins and raw.document.ends]
        keys = [hash_document(block[n].document) for n in whole]
        if "duplicate" in self._options.skip:
            occurred = numpy.zeros(len(keys), bool)
        else:
            occurred = self._known.add(numpy.array(keys, numpy.uint64))
        for n, key, again in zip(whole, keys, occurred.tolist(), strict=True):
            document = block[n].document
            leaks = "it is also in the validation text" if key in self._held_out else ""
            repeats = "it occurred before" if again else ""
            good[n] = self._passes(document, "leak", leaks) and self._passes(document, "duplicate", repeats)
        return good

    def _is_sound(self, raw: RawDocument) -> bool:
        """Report a document's own issues; False if it is left out."""
        document, good = raw.document, True
        reported: set[str] = set()
        for issue in raw.issues:
            fixed = issue.check in AUTO_FIXED
            if fixed and (issue.check in reported or issue.check in self._options.skip):
                continue
            reported.add(issue.check)
            shown = "" if fixed or not document.text else f": {excerpt(document.prompt or document.text)}"
            self._log.add(issue.check, issue.location, issue.message + shown)
            level = self._options.level(issue.check)
            good = good and level != "drop" and (fixed or level == "warn")
        return good and self._passes(document, "mojibake", find_mojibake(document.text))

    def _passes(self, document: Document, check: str, message: str) -> bool:
        """Report what a check found, if anything; False if the document is left out for it."""
        if not message or check in self._options.skip:
            return True
        self._log.add(check, document.location, f"{message}: {excerpt(document.prompt or document.text)}")
        return self._options.level(check) != "drop"

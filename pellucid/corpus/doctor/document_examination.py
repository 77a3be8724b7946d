"""The examination of a text of documents: what is wrong with it by file and line, and the documents that remain."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy
from numpy.typing import NDArray

from pellucid.corpus.doctor.checks import AUTO_FIXED
from pellucid.corpus.doctor.examination import Stamp, stamp
from pellucid.corpus.doctor.hash_set import HashSet
from pellucid.corpus.doctor.pair_checks import mojibake_in
from pellucid.corpus.doctor.report import IssueLog, ReportedIssue, excerpt, issue_lines
from pellucid.corpus.documents import BOUNDARY_WORDS, Document, RawDocument, detect_boundary, is_jsonl, read_documents
from pellucid.corpus.documents_config import DOCUMENT_CHECKS, Boundary, DocumentsConfig
from pellucid.corpus.pairs import Location
from pellucid.errors import UsageError, UserError
from pellucid.plurals import pluralize

__all__ = ["DocumentExamination", "DocumentReport", "examine_documents"]

_BLOCK = 8192  # documents judged at once


@dataclass(frozen=True)
class DocumentReport:
    """What was found in a text of documents.

    Args:
        files: the files read, in order.
        cuts: what ends a document in each; None for JSONL.
        documents: all documents.
        usable: those that remain.
        characters: of those.
        prompts: how many of those have a prompt.
        prompt_ending: line ends or spaces that every prompt ends with: what a question needs behind it.
        problems: the first examples of each check, worst level first.
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
        """The problems for which training refuses the text."""
        return tuple(problem for problem in self.issues if problem.level == "error")

    def as_dict(self) -> dict[str, object]:
        """Return what report.json says of the text."""
        return {
            "files": list(self.files),
            "boundaries": list(self.boundaries),
            "documents": self.documents,
            "usable": self.usable,
            "characters": self.characters,
            "with_prompt": self.prompts,
            "prompt_ending": self.prompt_ending,
            "issues": [problem.as_dict() for problem in self.issues],
            "counts": dict(self.counts),
        }

    def summary_lines(self, shown: int = 3) -> list[str]:
        """Return the report for people; `shown` examples of each check, 0 for one line a check."""
        documents, usable = pluralize(self.documents, "document"), f"{self.usable:,} usable"
        lines = [
            f"{pluralize(len(self.files), 'file')}, {documents}, {usable}, {pluralize(self.characters, 'character')}"
        ]
        for file, boundary in zip(self.files, self.boundaries, strict=True):
            if boundary is not None:
                lines.append(f"{file}: {BOUNDARY_WORDS[boundary]} is a document (data.documents {boundary})")
        return [*lines, *issue_lines(self.issues, self.counts, shown, "document")]


@dataclass(frozen=True)
class DocumentExamination:
    """A text that was examined: the report, and the documents that remain."""

    report: DocumentReport
    _used: NDArray[numpy.bool_] = field(repr=False)
    _stamps: tuple[Stamp, ...] = field(repr=False)

    def documents(self) -> Iterator[Document]:
        """Yield the usable documents, long ones in parts, in file order, reading anew; again and again.

        Raises:
            UserError: if a file has changed since it was examined.
        """
        if stamp(self.report.files) != self._stamps:
            raise UserError("the text has changed since it was examined", where=self.report.files, hint="Start again.")
        stream = _stream(self.report.files, self.report.boundaries)
        for raw, used in zip(stream, self._used.tolist(), strict=False):
            if used:
                yield raw.document


def examine_documents(
    files: Sequence[str | Path], options: DocumentsConfig, held_out: Callable[[], Iterator[Document]] | None = None
) -> DocumentExamination:
    """Examine a text of documents. Memory grows by 9 bytes a document.

    Args:
        files: plain texts, or JSONL with `text`, or `prompt` and `completion`; packed ones are unpacked.
        options: what a document is, and what is done about which fault.
        held_out: streams documents that training must not see; those that stand there are left out.

    Raises:
        UserError: if a file cannot be read.
        UsageError: if none is given.
    """
    if not files:
        raise UsageError("no text was given", hint="Name a text file, or a .jsonl file.")
    names = tuple(map(str, files))
    stamps = stamp(names)
    boundaries = tuple(None if is_jsonl(name) else _boundary(name, options) for name in names)
    log = IssueLog(options.level)
    check_block = _DocumentChecker(options, log, held_out)
    used = bytearray()
    documents = usable = characters = prompts = 0
    endings = set[str]()
    stream = _stream(names, boundaries)
    while block := list(islice(stream, _BLOCK)):
        good = check_block.check_block(block)
        used += good.tobytes()
        documents += sum(raw.document.begins for raw in block)
        kept = [raw.document for raw, is_good in zip(block, good.tolist(), strict=True) if is_good]
        usable += sum(document.begins for document in kept)
        characters += sum(len(document.text) + len(document.prompt) for document in kept)
        asked = [document.prompt for document in kept if document.prompt]
        prompts += len(asked)
        endings.update(prompt[len(prompt.rstrip()) :] for prompt in asked)
    if not usable and all(problem.level != "error" for problem in log.issues()):
        log.note("empty", Location(names[0], 1), f"none of {pluralize(documents, 'document')} can be used")
    made = {check: log.counts[check] for check in DOCUMENT_CHECKS if check not in options.skip}
    report = DocumentReport(
        names, boundaries, documents, usable, characters, prompts, _common(endings), log.issues(), made
    )
    return DocumentExamination(report, numpy.frombuffer(bytes(used), numpy.bool_), stamps)


def _common(endings: set[str]) -> str:
    """Return the longest ending that all of these share."""
    shortest = min(endings, key=len, default="")
    return next(shortest[i:] for i in range(len(shortest) + 1) if all(e.endswith(shortest[i:]) for e in endings))


def _boundary(file: str, options: DocumentsConfig) -> Boundary:
    return detect_boundary(file) if options.documents == "auto" else options.documents


def _stream(files: Sequence[str], boundaries: Sequence[Boundary | None]) -> Iterator[RawDocument]:
    for file, boundary in zip(files, boundaries, strict=True):
        yield from read_documents(file, boundary or "line")


class _DocumentChecker:
    """Judges documents in order, and remembers what has stood before."""

    def __init__(
        self, options: DocumentsConfig, log: IssueLog, held_out: Callable[[], Iterator[Document]] | None
    ) -> None:
        self._options = options
        self._log = log
        self._known = HashSet()
        self._held_out = frozenset(_hash(document) for document in held_out()) if held_out is not None else frozenset()

    def check_block(self, block: Sequence[RawDocument]) -> NDArray[numpy.bool_]:
        """Report what is wrong with a block of documents, and say which are used."""
        good = numpy.array([self._is_sound(raw) for raw in block])
        # Parts of a long text repeat by chance only.
        whole = [n for n, raw in enumerate(block) if good[n] and raw.document.begins and raw.document.ends]
        own = numpy.array([_hash(block[n].document) for n in whole], numpy.int64)
        before = self._known.add(own) if "duplicate" not in self._options.skip else numpy.zeros(len(own), bool)
        for n, key, again in zip(whole, own.tolist(), before.tolist(), strict=True):
            document = block[n].document
            leaks = "it also stands in the validation text" * (key in self._held_out)
            stands = self._stands(document, "leak", leaks)
            good[n] = stands and self._stands(document, "duplicate", "it has stood before" * again)
        return good

    def _is_sound(self, raw: RawDocument) -> bool:
        """Report the faults of a document by itself, and say whether they leave it."""
        document, good = raw.document, True
        told: set[str] = set()
        for issue in raw.issues:
            fixed = issue.check in AUTO_FIXED
            if fixed and (issue.check in told or issue.check in self._options.skip):
                continue
            told.add(issue.check)
            shown = "" if fixed else f": {excerpt(document.prompt or document.text)}" * bool(document.text)
            self._log.note(issue.check, issue.location, issue.message + shown)
            level = self._options.level(issue.check)
            good = good and level != "drop" and (fixed or level == "warn")
        return good and self._stands(document, "mojibake", mojibake_in(document.text))

    def _stands(self, document: Document, check: str, message: str) -> bool:
        """Report what a check found, if anything; say whether the document is still used."""
        if not message or check in self._options.skip:
            return True
        self._log.note(check, document.location, f"{message}: {excerpt(document.prompt or document.text)}")
        return self._options.level(check) != "drop"


def _hash(document: Document) -> int:
    return hash((document.prompt, document.text))

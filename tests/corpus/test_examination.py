"""The whole examination: the report, the pairs, and that they agree."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pellucid.corpus.cleaning import clean
from pellucid.corpus.config import DataConfig
from pellucid.corpus.doctor.checks import CHECKS, hint_in_training
from pellucid.corpus.doctor.examination import Examination, examine
from pellucid.corpus.formats import PAIR_FORMATS
from pellucid.corpus.hashing import hash_text
from pellucid.errors import UserError

from .test_offset_path import make_text

FRESH = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def assert_consistent(examination: Examination) -> None:
    """Every pair is either usable or counted under exactly one check of level error or drop."""
    report = examination.report
    pairs = list(examination.pairs())
    assert len(pairs) == report.usable
    assert pairs == list(examination.pairs())
    options = examination.options
    lost = sum(
        count
        for check, count in report.counts.items()
        if check != "empty" and (check in ("shift", "line-count") or options.level(check) != "warn")
    )
    assert report.pairs == report.usable + lost
    for pair in pairs:
        assert pair.source and pair.target
        assert clean(pair.source) == (pair.source, ()) and clean(pair.target) == (pair.target, ())
    form = report.as_dict()
    assert list(form) == ["files", "pairs", "usable", "issues", "counts"]
    assert json.loads(json.dumps(form)) == form
    for problem in report.issues:
        assert list(problem.as_dict()) == ["check", "level", "file", "line", "message", "hint"]
        assert problem.line >= 1 and problem.hint and "\n" not in problem.message
    assert report.summary_lines()


@given(
    st.binary(max_size=400),
    st.sampled_from([*(suffix for form in PAIR_FORMATS for suffix in form.suffixes), ".tsv.gz"]),
)
@FRESH
def test_no_bytes_crash_the_doctor(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    try:
        examination = examine([path])
    except UserError as error:
        assert error.what and error.where
        return
    assert_consistent(examination)


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from([DataConfig(), DataConfig().with_fixes()]))
@FRESH
def test_no_two_files_crash_the_doctor(tmp_path: Path, source: bytes, target: bytes, options: DataConfig) -> None:
    (tmp_path / "a").write_bytes(source)
    (tmp_path / "b").write_bytes(target)
    try:
        examination = examine([tmp_path / "a", tmp_path / "b"], options=options)
    except UserError as error:
        assert error.what and error.where
        return
    assert_consistent(examination)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12)


@given(
    st.lists(st.tuples(texts, texts) | st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), max_size=30),
    st.sets(st.sampled_from(["copy", "duplicate", "number", "too-short", "bom", "near-duplicate", "blank"])),
    st.sampled_from(["drop", "keep", "skip"]),
)
@FRESH
def test_levels_are_the_users_and_the_counts_add_up(
    tmp_path: Path, pairs: list[tuple[str, str]], checks: set[str], field: str
) -> None:
    lines = [json.dumps({"source": source, "target": target}) for source, target in pairs]
    path = write(tmp_path / "a.jsonl", *lines)
    examination = examine([path], options=DataConfig.model_validate({field: tuple(checks - {"blank"})}))
    assert_consistent(examination)


def test_places_are_those_of_each_side(tmp_path: Path) -> None:
    source, target = write(tmp_path / "a.es", "uno dos", "", "tres"), write(tmp_path / "a.en", "one two", "x", "three")
    pairs = list(examine([source, target]).pairs())
    assert [str(pair.target_location) for pair in pairs] == [f"{target}:1", f"{target}:3"]
    assert [str(pair.source_location) for pair in pairs] == [f"{source}:1", f"{source}:3"]


def test_examples_are_few_and_counts_are_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", *["sí\tsí"] * 20_000)
    report = examine([path], options=DataConfig(keep=("duplicate",))).report
    assert report.counts["duplicate"] == 19_999 and report.counts["copy"] == 20_000
    assert sum(problem.check == "copy" for problem in report.issues) == 20


def test_a_text_that_changed_is_not_read_by_old_judgements(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "uno dos\tone two")
    examination = examine([path])
    write(path, "uno dos\tone two", "tres\tthree")
    with pytest.raises(UserError, match="has changed"):
        next(examination.pairs())


def test_nothing_usable_is_refused(tmp_path: Path) -> None:
    report = examine([write(tmp_path / "a.tsv", "\t", "a\t")]).report
    assert [problem.check for problem in report.errors] == ["empty"]
    assert [problem.check for problem in examine([write(tmp_path / "b.tsv")]).report.errors] == ["empty"]


def test_swapped_pairs_are_found_by_script_and_all_of_them_when_the_languages_are_named(tmp_path: Path) -> None:
    lines = [f"那只猫昨天吃了{number}条鱼。\tThat cat ate {number} fish yesterday." for number in range(40)]
    swapped = ["\t".join(reversed(line.split("\t"))) for line in lines]
    path = write(tmp_path / "a.tsv", *lines, swapped[3])
    assert examine([path]).report.counts["swapped"] == 1
    report = examine([write(tmp_path / "b.tsv", *swapped)], source_lang="zh", target_lang="en").report
    assert report.counts["swapped"] == 40 and report.errors


class TestShift:
    def files(self, tmp_path: Path, source: list[str], target: list[str]) -> list[Path]:
        return [write(tmp_path / "a.es", *source), write(tmp_path / "a.en", *target)]

    def test_one_that_runs_to_the_end_is_refused_with_its_line(self, tmp_path: Path) -> None:
        source, target = make_text(300)
        del target[120]
        report = examine(self.files(tmp_path, source, [*target, "una línea más."])).report
        (problem,) = report.errors
        assert problem.check == "shift" and abs(problem.line - 121) <= 3 and "to the end" in problem.message

    def test_a_short_one_that_heals_costs_only_its_pairs(self, tmp_path: Path) -> None:
        source, target = make_text(4000)
        del target[1000]
        target.insert(1040, "una línea más.")
        examination = examine(self.files(tmp_path, source, target))
        report = examination.report
        assert not report.errors and 38 <= report.counts["shift"] <= 48
        assert_consistent(examination)

    def test_a_long_one_that_heals_is_refused(self, tmp_path: Path) -> None:
        source, target = make_text(4000)
        del target[1000]
        target.insert(1300, "una línea más.")
        assert [problem.check for problem in examine(self.files(tmp_path, source, target)).report.errors] == ["shift"]

    @pytest.mark.parametrize("check", ["shift", "line-count"])
    def test_dropping_it_pairs_the_lines_anew_and_rightly(self, tmp_path: Path, check: str) -> None:
        source, target = make_text(600)
        true = set(zip(source, target, strict=True))
        del target[200:203]
        if check == "shift":
            target += ["más y más."] * 3
        options = DataConfig(drop=("shift", "line-count"), keep=("duplicate",))
        examination = examine(self.files(tmp_path, source, target), options=options)
        pairs = [(pair.source, pair.target) for pair in examination.pairs()]
        assert not examination.report.errors
        assert len(set(pairs) - true) <= 3  # those beside the lines put in at the end
        assert len(pairs) > 580
        assert_consistent(examination)

    def test_it_is_found_in_one_file_too(self, tmp_path: Path) -> None:
        source, target = make_text(300)
        lines = [f"{ours}\t{theirs}" for ours, theirs in zip(source[2:], target, strict=False)]
        report = examine([write(tmp_path / "a.tsv", *lines)]).report
        assert [problem.check for problem in report.errors] == ["shift"] and report.errors[0].line <= 3

    def test_who_knows_better_can_skip_or_keep_it(self, tmp_path: Path) -> None:
        source, target = make_text(300)
        files = self.files(tmp_path, source[1:], target[:-1])
        assert "shift" not in examine(files, options=DataConfig(skip=("shift",))).report.counts
        kept = examine(files, options=DataConfig(keep=("shift", "length-ratio")))
        assert not kept.report.errors and kept.report.usable == 299


def test_unknown_checks_and_contradictions_are_refused() -> None:
    for fields in ({"drop": ("coppy",)}, {"keep": ("encoding",)}, {"drop": ("copy",), "keep": ("copy",)}):
        with pytest.raises(ValueError, match=r"no check|cannot be|both"):
            DataConfig.model_validate(fields)


def test_fixes_turn_every_error_but_emptiness_into_leaving_out() -> None:
    fixing = DataConfig().with_fixes()
    assert {check for check in CHECKS if fixing.level(check) == "error"} == {"empty"}


@pytest.mark.parametrize("check", ["blank", "unpaired", "encoding"])
@pytest.mark.parametrize("field", ["keep", "skip"])
def test_what_is_no_pair_can_only_be_dropped(check: str, field: str) -> None:
    """Kept or skipped, such pairs would be lost without being counted."""
    with pytest.raises(ValidationError, match=f"{check} cannot be among those to {field}"):
        DataConfig.model_validate({field: (check,)})
    assert DataConfig(drop=(check,)).level(check) == "drop"


def test_duplicates_do_not_depend_on_the_hash_seed_of_the_process() -> None:
    """Golden: blake2b of the text, 8 bytes, little-endian; computed with `b2sum -l 64`."""
    assert hash_text("uno\tone") == int.from_bytes(hashlib.blake2b(b"uno\tone", digest_size=8).digest(), "little")
    program = "from pellucid.corpus.hashing import hash_text; print(hash_text('uno'))"
    done = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(done) == 1


def test_hints_name_the_flags_of_the_running_command(tmp_path: Path) -> None:
    text = write(tmp_path / "a.tsv", "one", "two\tdos\tzwei")
    (ours,) = examine([text]).report.errors[:1]
    (training,) = examine([text], in_training=True).report.errors[:1]
    assert "--drop columns" in ours.hint and "--data.drop columns" in training.hint
    assert hint_in_training("too-long").endswith("raise --data.max_characters.")
    assert "let `pellucid doctor --fix` realign" in hint_in_training("shift")
    assert all("--drop" not in hint_in_training(check) for check in CHECKS)

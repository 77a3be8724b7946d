import errno
import json
import os
from pathlib import Path

import pytest

from pellucid.errors import UsageError, UserError
from pellucid.storage.model_folder import (
    FORMAT,
    check_output,
    contains_model,
    prepare_output,
    read_config,
    write_config,
    write_json,
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "es-en"
    folder.mkdir()
    write_config(folder, "translator", {"languages": ["es", "en"]})
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "checkpoints" / "step-00000001").mkdir(parents=True)
    return folder


def test_a_config_comes_back_with_kind_and_format(model: Path) -> None:
    assert read_config(model, "translator") == {"kind": "translator", "format": FORMAT, "languages": ["es", "en"]}


def test_another_kind_is_refused(model: Path) -> None:
    with pytest.raises(UserError, match=r"expected word vectors, but .* holds a translator"):
        read_config(model, "vectors")


def test_a_newer_format_is_refused(model: Path) -> None:
    write_json(model / "config.json", {"kind": "translator", "format": FORMAT + 1})
    with pytest.raises(UserError, match=f"newer Pellucid: format {FORMAT + 1}, this one reads format {FORMAT}"):
        read_config(model)


def test_an_older_format_is_refused(model: Path) -> None:
    write_json(model / "config.json", {"kind": "translator", "format": 1})
    with pytest.raises(UserError, match=f"earlier development version: format 1, this one reads format {FORMAT}"):
        read_config(model)


@pytest.mark.parametrize("form", [None, "1", 0])
def test_a_wrong_format_is_damage(model: Path, form: object) -> None:
    write_json(model / "config.json", {"kind": "translator", "format": form})
    with pytest.raises(UserError, match="damaged: format"):
        read_config(model)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"kind": "translator", "loss": NaN}'])
def test_a_damaged_config_is_named(model: Path, content: bytes) -> None:
    (model / "config.json").write_bytes(content)
    with pytest.raises(UserError, match=r"config\.json is damaged") as caught:
        read_config(model)
    assert caught.value.where == (str(model / "config.json"),)


def test_a_folder_of_another_program_is_refused(model: Path) -> None:
    write_json(model / "config.json", {"architectures": ["MarianMTModel"]})
    with pytest.raises(UserError, match="holds no Pellucid model"):
        read_config(model)


def test_a_missing_folder_names_the_nearest_model(model: Path) -> None:
    with pytest.raises(UserError, match="no model folder") as caught:
        read_config(model.with_name("es-em"))
    assert str(model) in caught.value.hint


def test_a_file_and_an_empty_folder_are_no_models(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a file"):
        read_config(model / "model.safetensors")
    with pytest.raises(UserError, match=r"config\.json is missing"):
        read_config(tmp_path)


def test_a_checkpoint_names_its_model(model: Path) -> None:
    checkpoint = model / "checkpoints" / "step-00000100"
    checkpoint.mkdir(parents=True)
    with pytest.raises(UserError, match="is a checkpoint, not a model") as refused:
        read_config(checkpoint)
    assert refused.value.hint == f"Name the folder of its model: {model.absolute()}"


def test_a_begun_model_is_told_from_none(model: Path) -> None:
    (model / "config.json").unlink()
    assert contains_model(model)
    with pytest.raises(UserError, match="unfinished model"):
        read_config(model)


def test_a_folder_with_a_model_is_refused_untouched(model: Path) -> None:
    with pytest.raises(UserError, match="already holds a model") as caught:
        prepare_output(model, resume=False, overwrite=False)
    assert "--resume" in caught.value.hint and "--overwrite" in caught.value.hint
    assert (model / "model.safetensors").read_bytes() == b"weights"


def test_resume_keeps_the_model_and_clears_what_is_half_written(model: Path) -> None:
    half = model / "checkpoints" / ".step-00000002.0123456789ab.new"
    half.mkdir()
    (model / ".config.json.0123456789ab.new").touch()
    prepare_output(model, resume=True, overwrite=False)
    assert not half.exists()
    assert sorted(entry.name for entry in model.iterdir()) == ["checkpoints", "config.json", "model.safetensors"]


def test_resume_of_another_programs_folder_is_refused(model: Path) -> None:
    write_json(model / "config.json", {})
    with pytest.raises(UserError, match="no known kind"):
        check_output(model, resume=True, overwrite=False)


def test_overwrite_removes_the_model_and_nothing_else(model: Path) -> None:
    (model / "notes.txt").write_text("mine", encoding="utf-8")
    (model / ".git").mkdir()
    prepare_output(model, resume=False, overwrite=True)
    assert sorted(entry.name for entry in model.iterdir()) == [".git", "notes.txt"]


def test_overwrite_spares_a_folder_of_another_program(model: Path) -> None:
    write_json(model / "config.json", {"architectures": ["MarianMTModel"]})
    with pytest.raises(UserError, match="no known kind"):
        prepare_output(model, resume=False, overwrite=True)
    assert (model / "model.safetensors").exists()


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_with_other_things_is_refused(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"other files and no model: thesis\.tex"):
        prepare_output(tmp_path, resume=False, overwrite=overwrite)


def test_a_new_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    prepare_output(tmp_path / "a" / "b", resume=False, overwrite=False)
    assert (tmp_path / "a" / "b").is_dir()


def test_checking_writes_nothing(tmp_path: Path, model: Path) -> None:
    check_output(tmp_path / "new", resume=False, overwrite=False)
    check_output(model, resume=False, overwrite=True)
    assert not (tmp_path / "new").exists()
    assert (model / "config.json").exists()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(UserError, match="is a file"):
        prepare_output(tmp_path / "a", resume=False, overwrite=True)
    with pytest.raises(UserError, match="cannot use"):
        prepare_output(tmp_path / "a" / "b", resume=False, overwrite=False)


def test_resume_and_overwrite_exclude_each_other(model: Path) -> None:
    with pytest.raises(UsageError):
        check_output(model, resume=True, overwrite=True)


def test_a_full_disk_leaves_the_old_config(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (model / "config.json").read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(UserError, match="the disk is full"):
        write_config(model, "translator", {"languages": ["de", "en"]})
    assert (model / "config.json").read_bytes() == before


def test_json_is_utf8_and_has_no_nan(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"text": "好"})
    assert "好" in (tmp_path / "a.json").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"text": "好"}

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from pellucid.training.recipe import load_recipe, settings_of

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_what_it_prints_is_the_same_recipe_again(run_pellucid: Run, tmp_path: Path) -> None:
    shown = run_pellucid("train", "settings", "base", "--training.seed", "7")
    assert shown.returncode == 0
    path = tmp_path / "base.toml"
    path.write_text(shown.stdout, encoding="utf-8")
    assert load_recipe(path) == load_recipe("base", {"training.seed": 7})


def test_json_has_every_setting(run_pellucid: Run) -> None:
    rows = json.loads(run_pellucid("train", "settings", "--json").stdout)
    assert [row["name"] for row in rows] == list(settings_of())
    values = {row["name"]: row["values"] for row in rows}
    assert values["model.norm"] == "layernorm | rmsnorm"

"""N12: TSV is split on tabs; quotes, NA, null and None are text."""

from pathlib import Path

from pellucid.corpus.doctor.examination import examine
from pellucid.corpus.doctor.fixing import fix

PAIRS = [
    ('"Hallo', '"Hi'),
    ("NA", "NA yes"),
    ("null", "None"),
    ("a, b; c", "'x\" y"),
    ("\\t", "\\N"),
    ("#Kommentar", "# comment"),
    ("=1+1", "-"),
]


def test_every_cell_is_the_text_it_is_and_survives_fix(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    assert [(pair.source, pair.target) for pair in examine([path]).pairs()] == PAIRS
    for out in (tmp_path / "clean.tsv", tmp_path / "clean.jsonl"):
        fix([path], out)
        assert [(pair.source, pair.target) for pair in examine([out]).pairs()] == PAIRS

"""Print how a run came along: validation loss, BLEU and chrF against minutes, from its metrics.jsonl.

Usage: python recipes/curve.py MODEL
"""

import argparse
from pathlib import Path

from pellucid.storage.metrics import read_metrics


def curve(folder: Path) -> list[str]:
    """Return a Markdown table with a row for each validation of the run in `folder`."""
    lines = ["| minutes | step | valid loss, nats | BLEU | chrF |", "|---|---|---|---|---|"]
    for record in read_metrics(folder):
        if "valid_loss" in record:
            scores = [record.get(name) for name in ("valid_bleu", "valid_chrf")]
            cells = [f"{record['seconds'] / 60:.1f}", f"{record['step']:,}", f"{record['valid_loss']:.3f}"]
            cells += ["" if score is None else f"{score:.1f}" for score in scores]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path, help="folder of a trained model")
    print("\n".join(curve(options.parse_args().model)))

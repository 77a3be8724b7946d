"""The user's own files for claims that need real text: a folder passed as `--data`.

text.txt          English text, one sentence per line
analogies.txt     questions in the format of Google's questions-words.txt
similarity.tsv    word, word, human similarity score
"""

from pathlib import Path

from pellucid.claims.claim import Setup
from pellucid.claims.evidence import MissingData

__all__ = ["require_user_file"]


def require_user_file(setup: Setup, name: str) -> Path:
    """Find a file in the user's folder.

    Raises:
        MissingData: if there is no folder, or no such file in it.
    """
    if setup.data is None:
        raise MissingData("missing_data_folder", name=name)
    if not (setup.data / name).is_file():
        raise MissingData("missing_file", name=name, folder=setup.data)
    return setup.data / name

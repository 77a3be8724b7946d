"""The user's own files, for claims that ask for real text: a folder given as `--data`.

text.txt          English text, a sentence a line
analogies.txt     questions in the form of Google's questions-words.txt
similarity.tsv    word, word, how alike people find them
"""

from pathlib import Path

from pellucid.claims.bilingual import Text
from pellucid.claims.claim import Budget
from pellucid.claims.evidence import MissingData

__all__ = ["require_user_file"]


def require_user_file(budget: Budget, name: str) -> Path:
    """Return a file of the user's folder.

    Raises:
        Missing: if there is no folder, or no such file in it.
    """
    if budget.data is not None and (budget.data / name).is_file():
        return budget.data / name
    where = "the folder given as --data" if budget.data is None else str(budget.data)
    where_zh = "--data 所给的文件夹" if budget.data is None else str(budget.data)
    raise MissingData(Text(f"the file {name} in {where}", f"{where_zh}中的文件 {name}"))

"""Words as the leaves of a binary tree, frequent ones near the root: predicting a word is taking some turns.

A word's code are the turns from the root to it, 0 or 1, and its path the inner nodes at which they are taken. No tree
has a smaller mean length of code, each word counted as often as it stands in the text.

Source:
    Huffman 1952; Morin & Bengio 2005 and Mikolov et al. 2013 (Distributed Representations), sec. 2.1, for its use.
"""

from typing import NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["HuffmanTree", "build_huffman_tree"]


class HuffmanTree(NamedTuple):
    """The paths of all words, one after another: those of word w from `starts[w]` to `starts[w + 1]`, from the root on.

    Attributes:
        starts: int64 [vocab_size + 1].
        nodes: int32, inner nodes, from 0 to vocab_size − 2; the last is the root.
        turns: uint8, the code's 0s and 1s.
    """

    starts: NDArray[numpy.int64]
    nodes: NDArray[numpy.int32]
    bits: NDArray[numpy.uint8]

    def code(self, word: int) -> str:
        """Return a word's code as a text of 0s and 1s."""
        return "".join(map(str, self.bits[self.starts[word] : self.starts[word + 1]].tolist()))


def build_huffman_tree(counts: ArrayLike) -> HuffmanTree:
    """Return the tree for words of these counts, two or more.

    Of equally rare nodes that which was there first is joined first, so the tree follows from the counts alone.
    """
    leaves = numpy.asarray(counts, numpy.int64)
    size = len(leaves)
    if size < 2:
        raise ValueError("a tree needs two words")
    # Two queues, leaves by rising count and joined nodes in the order of their making, whose counts rise, too.
    order = numpy.argsort(leaves, kind="stable").tolist()
    weights = leaves.tolist() + [0] * (size - 1)
    parent, turn = [0] * (2 * size - 1), [0] * (2 * size - 1)
    next_leaf, next_joined = 0, size
    for node in range(size, 2 * size - 1):
        for side in (0, 1):
            if next_leaf < size and (next_joined >= node or weights[order[next_leaf]] <= weights[next_joined]):
                child = order[next_leaf]
                next_leaf += 1
            else:
                child = next_joined
                next_joined += 1
            parent[child], turn[child] = node, side
            weights[node] += weights[child]
    starts, nodes, bits = [0], list[int](), list[int]()
    root = 2 * size - 2
    for word in range(size):
        node, path = word, list[tuple[int, int]]()
        while node != root:
            path.append((parent[node] - size, turn[node]))
            node = parent[node]
        nodes += [at for at, _ in reversed(path)]
        bits += [side for _, side in reversed(path)]
        starts.append(len(nodes))
    return HuffmanTree(
        numpy.array(starts, numpy.int64), numpy.array(nodes, numpy.int32), numpy.array(bits, numpy.uint8)
    )

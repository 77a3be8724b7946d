"""Huffman tree of the vocabulary, for hierarchical softmax.

A word's code is the sequence of bits on the way from the root to its leaf, and its path the inner nodes at which they
are decided. No tree has a smaller mean code length, weighted by the words' counts.

Source:
    Huffman 1952; Morin & Bengio 2005 and Mikolov et al. 2013 (Distributed Representations), sec. 2.1, for its use.
"""

from typing import NamedTuple

import numpy
from numpy.typing import ArrayLike, NDArray

__all__ = ["HuffmanTree", "build_huffman_tree"]


class HuffmanTree(NamedTuple):
    """The paths of all words, concatenated: that of word w from `starts[w]` to `starts[w + 1]`, beginning at the root.

    Attributes:
        starts: int64 [vocab_size + 1].
        nodes: int32, inner nodes, from 0 to vocab_size − 2; the last one is the root.
        bits: uint8, the codes.
    """

    starts: NDArray[numpy.int64]
    nodes: NDArray[numpy.int32]
    bits: NDArray[numpy.uint8]

    def code(self, word: int) -> str:
        """Write a word's code as a string of 0s and 1s."""
        return "".join(map(str, self.bits[self.starts[word] : self.starts[word + 1]].tolist()))


def build_huffman_tree(counts: ArrayLike) -> HuffmanTree:
    """Build the tree for two or more words with these counts.

    Of equally rare nodes the one created first is merged first, so the tree depends on the counts alone.
    """
    leaves = numpy.asarray(counts, numpy.int64)
    size = len(leaves)
    if size < 2:
        raise ValueError("a Huffman tree needs at least two words")
    # Two queues: leaves by increasing count, and merged nodes in order of creation, whose counts increase as well.
    order = numpy.argsort(leaves, kind="stable").tolist()
    weights = leaves.tolist() + [0] * (size - 1)
    parent, bit = [0] * (2 * size - 1), [0] * (2 * size - 1)
    next_leaf, next_merged = 0, size
    for node in range(size, 2 * size - 1):
        for side in (0, 1):
            if next_leaf < size and (next_merged >= node or weights[order[next_leaf]] <= weights[next_merged]):
                child = order[next_leaf]
                next_leaf += 1
            else:
                child = next_merged
                next_merged += 1
            parent[child], bit[child] = node, side
            weights[node] += weights[child]
    starts, nodes, bits = [0], list[int](), list[int]()
    root = 2 * size - 2
    for word in range(size):
        node, path = word, list[tuple[int, int]]()
        while node != root:
            path.append((parent[node] - size, bit[node]))
            node = parent[node]
        nodes += [at for at, _ in reversed(path)]
        bits += [side for _, side in reversed(path)]
        starts.append(len(nodes))
    return HuffmanTree(
        numpy.array(starts, numpy.int64), numpy.array(nodes, numpy.int32), numpy.array(bits, numpy.uint8)
    )

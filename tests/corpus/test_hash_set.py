"""Which texts have stood before."""

import numpy
from hypothesis import given
from hypothesis import strategies as st

from pellucid.corpus.doctor.hash_set import HashSet


@given(st.lists(st.lists(st.integers(0, 16))))
def test_blocks_of_hashes_are_known_again_as_a_set_knows_them(blocks: list[list[int]]) -> None:
    seen, known = HashSet(), set[int]()
    for block in blocks:
        answers = seen.add(numpy.array(block, dtype=numpy.uint64)).tolist()
        expected = [value in known or value in block[:place] for place, value in enumerate(block)]
        known.update(block)
        assert answers == expected


def test_a_hash_takes_eight_bytes() -> None:
    seen = HashSet()
    for block in range(50):
        seen.add(numpy.arange(block * 100, block * 100 + 150, dtype=numpy.uint64))
    assert sum(run.nbytes for run in seen._runs) == 8 * 5050

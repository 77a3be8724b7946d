from hypothesis import given
from hypothesis import strategies as st

from pellucid.alignment.symmetrisation import SYMMETRISATIONS, grow_diag_final_and, intersection, union

links = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)))


def test_intersection_and_union_are_what_they_say() -> None:
    assert intersection([(1, 1), (0, 0)], [(0, 0), (2, 1)]) == [(0, 0)]
    assert union([(1, 1), (0, 0)], [(0, 0), (2, 1)]) == [(0, 0), (1, 1), (2, 1)]


def test_grow_diag_takes_neighbours_whose_word_is_free() -> None:
    # (1, 1) and (2, 2) lie diagonally beside what is taken; (0, 1) would link two words that are both taken.
    assert grow_diag_final_and([(0, 0), (1, 1), (2, 2)], [(0, 0), (0, 1)]) == [(0, 0), (0, 1), (1, 1), (2, 2)]
    assert grow_diag_final_and([(0, 0), (1, 1), (0, 1)], [(0, 0), (1, 1)]) == [(0, 0), (1, 1)]


def test_final_and_takes_far_links_only_if_both_words_are_free() -> None:
    assert grow_diag_final_and([(0, 0), (5, 5)], [(0, 0)]) == [(0, 0), (5, 5)]
    assert grow_diag_final_and([(0, 0), (0, 5)], [(0, 0)]) == [(0, 0)]
    assert grow_diag_final_and([(3, 0)], [(3, 5)]) == [(3, 0)]  # nothing in common: forward comes first


@given(links, links)
def test_every_method_lies_between_intersection_and_union(
    forward: set[tuple[int, int]], backward: set[tuple[int, int]]
) -> None:
    for method in SYMMETRISATIONS.values():
        found = method(forward, backward)
        assert found == sorted(set(found))
        assert set(intersection(forward, backward)) <= set(found) <= set(union(forward, backward))
        assert method(sorted(forward, reverse=True), backward) == found


@given(links, links)
def test_grow_diag_final_and_leaves_no_free_pair_unlinked(
    forward: set[tuple[int, int]], backward: set[tuple[int, int]]
) -> None:
    found = grow_diag_final_and(forward, backward)
    sources, targets = {i for i, _ in found}, {j for _, j in found}
    assert all(i in sources or j in targets for i, j in forward | backward)

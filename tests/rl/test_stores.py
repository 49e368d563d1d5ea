"""Numbers for features and lists, each thing once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rl.shared.features import FeatureRows
from gym_memory.baselines.rl.shared.replay import RaggedLists
from gym_memory.core.errors import InvalidArgumentError

pytestmark = pytest.mark.slow


def test_new_rows_are_ordered_and_old_ones_stay_silent() -> None:
    vocabulary = FeatureRows(4)
    assert vocabulary.rows(["b", "a", "b"]) == [1, 2, 1]
    vocabulary.frozen = True
    assert vocabulary.rows(["a", "c"]) == [2, 0]
    vocabulary.frozen = False
    assert vocabulary.rows(["c", "d", "c"]) == [3, 0, 3]
    assert FeatureRows(4, vocabulary.names).rows(["c", "b"]) == [3, 1]


def test_a_vocabulary_needs_room() -> None:
    with pytest.raises(InvalidArgumentError, match="size"):
        FeatureRows(1)
    with pytest.raises(InvalidArgumentError, match="at most 1"):
        FeatureRows(2, ["a", "b"])


lists = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6).map(tuple), max_size=30)


@given(lists)
@settings(max_examples=60)
def test_lists_come_back_and_equal_ones_share_a_number(items: list[tuple[int, ...]]) -> None:
    store = RaggedLists()
    numbers = [store.add(item) for item in items]
    assert len(store) == len(set(items))
    batch = store.gather(np.array(numbers, np.int64))
    found = [
        tuple(batch.values[start : start + length].tolist())
        for start, length in zip(batch.offsets, batch.lengths, strict=True)
    ]
    assert found == items
    twin = RaggedLists()
    twin.load_state(store.state())
    assert [twin.add(item) for item in items] == numbers


@given(lists, st.data())
@settings(max_examples=40)
def test_the_others_can_be_forgotten(items: list[tuple[int, ...]], data: st.DataObject) -> None:
    store = RaggedLists()
    for item in items:
        store.add(item)
    known = list(dict.fromkeys(items))
    kept = data.draw(st.lists(st.sampled_from(range(len(known))), unique=True)) if known else []
    renamed = store.keep(np.array(kept, np.int64))
    assert len(store) == len(kept)
    for new, old in enumerate(kept):
        assert renamed[old] == new
        assert store.add(known[old]) == new
    assert (np.delete(renamed, kept) == -1).all()

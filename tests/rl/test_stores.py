"""Numbers of features and bags: equal ones share a number."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rl.shared.bags import BagStore, Batch, packed
from gym_memory.baselines.rl.shared.features import FeatureRows, Group
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.tensors import flattened, nested

pytestmark = pytest.mark.slow


def test_new_rows_are_ordered_and_old_ones_stay_silent() -> None:
    def rows(features: str) -> list[int]:
        return vocabulary.rows([Group("", tuple(features))])

    vocabulary = FeatureRows(4)
    assert rows("bab") == [1, 2, 1]
    vocabulary.frozen = True
    assert rows("ac") == [2, 0]
    vocabulary.frozen = False
    assert rows("cdc") == [3, 0, 3]
    assert rows("da") == [0, 2]
    vocabulary = FeatureRows(4, vocabulary.names)
    assert rows("cb") == [3, 1]


def test_a_group_is_short_for_names_with_the_same_start() -> None:
    vocabulary = FeatureRows(9)
    assert vocabulary.rows([Group("take 1", ("raw", "is fig")), Group("1", ("raw",))]) == [1, 2, 3]
    assert vocabulary.names == ["take 1 raw", "take 1 is fig", "1 raw"]
    assert vocabulary.rows([Group("", ("1 raw",)), Group("take", ("1 raw",))]) == [3, 1]


def test_a_vocabulary_needs_room() -> None:
    with pytest.raises(InvalidArgumentError, match="size"):
        FeatureRows(1)
    with pytest.raises(InvalidArgumentError, match="at most 1"):
        FeatureRows(2, ["a", "b"])


lists = st.lists(st.integers(0, 2**31 - 1), max_size=6).map(packed)
bags = st.lists(lists, max_size=30) | st.lists(st.tuples(lists, lists), max_size=30)


@given(bags)
@settings(max_examples=60)
def test_equal_bags_share_a_number_and_come_back(items: list[Any]) -> None:
    store = BagStore()
    numbers = store.add(items)
    assert len(store) == len(set(items))
    contents, (places,) = store.distinct(numbers)
    assert contents == list(dict.fromkeys(items))
    assert [contents[place] for place in places] == items
    twin = BagStore(nested(flattened(store.state())))
    assert twin.add(items).tolist() == numbers.tolist()
    assert twin.add([packed([-1])]) == store.add([packed([-1])])


@given(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=30))
def test_a_batch_has_the_numbers_of_every_list(items: list[list[int]]) -> None:
    batch = Batch.of([*map(packed, items)])
    ends = batch.offsets + batch.lengths
    spans = zip(batch.offsets, ends, strict=True)
    assert [batch.values[start:end].tolist() for start, end in spans] == items


@given(bags, st.data())
@settings(max_examples=40)
def test_forgotten_bags_get_new_numbers(items: list[Any], data: st.DataObject) -> None:
    store = BagStore()
    obs = dict(zip(items, store.add(items), strict=True))
    kept = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    store.keep([store.add(kept)])
    assert len(store) == len(kept)
    for item, again in zip(obs, store.add(obs), strict=True):
        assert (again == obs[item]) == (item in kept)

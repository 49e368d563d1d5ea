"""Numbers of features and bags: equal ones share a number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rl.shared.bags import BagStore, Batch
from gym_memory.baselines.rl.shared.features import FeatureRows
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


bags = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6).map(tuple), max_size=30)


@given(bags)
@settings(max_examples=60)
def test_equal_bags_share_a_number_and_come_back(items: list[tuple[int, ...]]) -> None:
    store = BagStore()
    numbers = store.add(items)
    assert len(store) == len(set(items))
    contents, (places,) = store.distinct(numbers)
    assert contents == list(dict.fromkeys(items))
    assert [contents[place] for place in places] == items
    batch = Batch.of(items)
    ends = batch.offsets + batch.lengths
    spans = zip(batch.offsets, ends, strict=True)
    assert [tuple(batch.values[start:end].tolist()) for start, end in spans] == items
    twin = BagStore(json.loads(json.dumps(store.state())))
    assert twin.add(items).tolist() == numbers.tolist()
    assert twin.add([(-1,)]) == store.add([(-1,)])


@given(bags, st.data())
@settings(max_examples=40)
def test_forgotten_bags_get_new_numbers(items: list[tuple[int, ...]], data: st.DataObject) -> None:
    store = BagStore()
    obs = dict(zip(items, store.add(items), strict=True))
    kept = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    store.keep([store.add(kept)])
    assert len(store) == len(kept)
    for item, again in zip(obs, store.add(obs), strict=True):
        assert (again == obs[item]) == (item in kept)

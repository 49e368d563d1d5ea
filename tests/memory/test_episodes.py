"""The episode store: the paper's score against its definition, and versions."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import StoreError
from gym_memory.core.records import Triple
from gym_memory.memory.stores.episodes import Episode, EpisodeStore, EpisodicIndex

FACTS = [Triple("apple", "touches", name) for name in ("ant", "bee", "cow", "dog", "eel", "fly")]
facts = st.lists(st.sampled_from(FACTS), max_size=8)


def store_of(*episodes: list[Triple]) -> EpisodeStore:
    store = EpisodeStore()
    for t, triples in enumerate(episodes):
        store.add(t, f"text {t}", f"action {t}" if t else "", triples)
    return store


def best(store: EpisodeStore, recalled: list[Triple], hidden: int = 0) -> list[int]:
    return [e.id for e in EpisodicIndex(store).search(recalled, exclude_last=hidden)]


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(facts, max_size=8), facts, st.integers(0, 9))
def test_score_is_equation_1(episodes, recalled, exclude_last):
    expected = []
    for id, triples in enumerate(episodes[: max(len(episodes) - exclude_last, 0)]):
        n, total = len(set(triples) & set(recalled)), len(set(triples))
        score = n / max(total, 1) * math.log2(max(total, 1))
        if score > 0:
            expected.append((round(score, 9), id))
    ranked = [id for _, id in sorted(expected, reverse=True)]
    assert best(store_of(*episodes), recalled, exclude_last) == ranked


def test_an_observation_with_one_fact_scores_nothing():
    assert best(store_of(FACTS[:1], FACTS[:2]), FACTS) == [1]


def test_equal_scores_go_to_the_newest():
    store = store_of(FACTS[:2], FACTS[2:4], FACTS[:2], FACTS[:4])
    assert best(store, FACTS[:2]) == [3, 2, 0]
    assert best(store, FACTS[:2], 2) == [0]
    assert best(store, FACTS[:2], 9) == []


def test_only_shared_observations_are_touched():
    store = store_of(*[FACTS[:3]] * 5, *[FACTS[3:]] * 5)
    assert list(store.code_scores(FACTS[:1], 10)) == [0, 1, 2, 3, 4]
    assert store.code_scores([Triple("never", "was", "seen")], 10) == {}


def test_the_score_of_the_authors_code():
    store = store_of(FACTS[:4], FACTS[:2], FACTS[4:5], FACTS[:1])
    assert store.code_scores(FACTS[:2], 4) == {0: 1.0, 1: 1.0, 3: 0.5}
    both = store.code_scores(FACTS[:2], 4, [0.2, 0.4, 0.8, 1.6])
    assert both == pytest.approx({0: 1.125, 1: 1.25, 2: 0.5, 3: 1.5})
    early = store.code_scores(FACTS[:2], 3, [0.2, 0.4, 0.8, 1.6])
    assert early == pytest.approx({0: 1.25, 1: 1.5, 2: 1.0})
    assert store.code_scores(FACTS[:1], 4, [-1, -1, -1, -1]) == {0: 1.0, 1: 1.0, 3: 1.0}
    assert store.code_scores([], 4) == {}


def test_episodes_keep_their_fields():
    store = EpisodeStore()
    assert store
    assert len(store) == 0
    episode = store.add(7, "Wörter\x00\n", "look", [FACTS[1], FACTS[0], FACTS[1]])
    assert episode == Episode(0, 7, "Wörter\x00\n", "look", (FACTS[1], FACTS[0]))
    assert list(store) == [episode] == [store[0]] == [store[-1]]
    assert store.relevance_scores({FACTS[0]: 1.0}) == {0: 1.0}
    assert store.relevance_scores({FACTS[5]: 1.0}) == {}


def look(store: EpisodeStore) -> tuple:
    return (
        json.dumps(store.state()),
        [store.relevance_scores({fact: 1.0}) for fact in FACTS],
        store.code_scores(FACTS[::2], len(store)),
    )


@pytest.mark.slow
@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_versions_are_independent(seed):
    chance = random.Random(seed)
    stores, taken = [EpisodeStore()], []
    looks = [look(stores[0])]
    for _ in range(40):
        current = chance.randrange(len(stores))
        store = stores[current]
        kind = chance.choice(("add", "add", "add", "snapshot", "restore", "fork", "load"))
        if kind == "add":
            store.add(len(store), "text", "", chance.sample(FACTS, chance.randrange(4)))
            looks[current] = look(store)
        elif kind == "snapshot":
            taken.append((store.snapshot(), look(store)))
        elif kind == "restore" and taken:
            snapshot, looks[current] = chance.choice(taken)
            store.restore(snapshot)
        elif kind == "fork" and len(stores) < 3:
            stores.append(chance.choice((store.fork, lambda s=store: copy.deepcopy(s)))())
            looks.append(looks[current])
        elif kind == "load":
            store.load_state(json.loads(json.dumps(store.state())))
        assert [look(each) for each in stores] == looks


def test_state_goes_through_json_and_pickle():
    store = store_of(FACTS[:3], [], FACTS[2:])
    text = json.dumps(store.state())
    twin = EpisodeStore()
    twin.load_state(json.loads(text))
    for other in (twin, pickle.loads(pickle.dumps(store))):
        assert list(other) == list(store)
        assert json.dumps(other.state()) == text


@pytest.mark.parametrize(
    "broken",
    [{}, {"facts": [["a"]], "episodes": []}, {"facts": [], "episodes": [[0, "", "", [0]]]}],
)
def test_a_broken_state_is_refused_and_changes_nothing(broken):
    store = store_of(FACTS)
    with pytest.raises(StoreError, match="episode store"):
        store.load_state(broken)
    assert len(store) == 1

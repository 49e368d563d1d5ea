"""Several memories in one observation: shares of the budget, nothing shown twice, parts kept."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest
from test_clin import DETOUR, play, trial_of
from test_memory_contract import Walk

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue
from gym_memory.memory import Memory, make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.memory.experience.fusion import Fusion
from gym_memory.memory.reading import split_entries
from gym_memory.memory.stores.store import Store
from gym_memory.testing.fake_env import FAKE_ID


def walked(memory: Memory, steps: int = 30) -> Cue:
    walk = Walk(memory)
    cue = walk.reset()
    for _ in range(steps):
        cue = walk.step()
    return cue


def test_parts_recall_as_they_do_alone() -> None:
    spec = "fusion?of=arigraph?attempts=0+clin?inner=none&shares=.75+.25"
    memory = make_memory(spec)
    alone = make_memory("arigraph?attempts=0"), make_memory("clin?inner=none")
    for one in (memory, *alone):
        play(one, DETOUR)
        one.begin(trial_of([])[2], 0)
    cue = walked(memory)
    assert [walked(one) for one in alone] == [cue, cue]
    recall = memory.recall(cue, 1000)
    assert recall.triples == alone[0].recall(cue, 750).triples
    assert recall.lessons == alone[1].recall(cue, 1000).lessons
    assert recall.text.startswith(alone[0].recall(cue, 750).text + "\n")
    assert memory.graph.state() == alone[0].graph.state()  # type: ignore[union-attr]


def test_shares_are_bounds_and_the_rest_is_passed_on() -> None:
    memory = Fusion(of="history+none+rag", shares=".2+.3+.5")
    cue = walked(memory)
    for budget in (0, 1, 40, 100, 400):
        recall = memory.recall(cue, budget)
        assert count_tokens(recall.text) <= budget
        parts = [
            (tokens, count_tokens(r.text)) for _, tokens, r in memory.recall_parts(cue, budget)
        ]
        assert all(used <= tokens for tokens, used in parts)
        assert parts[0][0] <= 0.2 * budget
        assert parts[2][0] >= 0.8 * budget - parts[0][1] + 0.2 * budget - 1  # the rest of both


def test_nothing_is_shown_twice() -> None:
    memory = Fusion(of="history?window=5+rag+history?window=9")
    cue = walked(memory)
    recall = memory.recall(cue, 6000)
    assert len(set(recall.episodes)) == len(recall.episodes)
    entries = [(e.action, e.text) for e in split_entries(recall.text)[1] if e.text]
    window = [(e.action, e.text) for e in split_entries(
        make_and_walk("history?window=5").recall(cue, 2000).text)[1] if e.text]  # fmt: skip
    assert entries[: len(window)] == window
    for entry in entries[len(window) :]:
        assert entry not in window
    twice = Fusion(of="arigraph+arigraph")
    cue = walked(twice)
    alone = make_and_walk("arigraph")
    assert twice.recall(cue, 4000) == alone.recall(cue, 2000)


def make_and_walk(spec: str) -> Memory:
    memory = make_memory(spec)
    walked(memory)
    return memory


def test_reasons_belong_to_the_shown_items() -> None:
    memory = Fusion(of="history?window=3+arigraph")
    cue = walked(memory)
    recall = memory.recall(cue, 800)
    reasons = memory.reasons(cue, 800)
    assert len(reasons.triples) == len(recall.triples)
    assert len(reasons.episodes) == len(recall.episodes)
    assert reasons.episodes[0].why == "recalled by history"
    assert reasons.triples[0].why != "recalled by arigraph"


def test_lifetimes_and_stores_of_the_parts(tmp_path) -> None:
    path = str(tmp_path / "lessons.db")
    inner = Spec.of("clin", {"lifetime": "forever", "store": path})
    spec = Spec.of("fusion", {"of": f"rag+{inner}"})
    assert Spec(spec).kwargs["of"] == f"rag+{inner}"
    memory = make_memory(spec)
    assert memory.lifetimes["1.rag.records"] == "episode"
    assert memory.lifetimes["2.clin.memories"] == "forever"
    play(memory, DETOUR)
    assert len(Store(path).records("clin")) == 1
    other = make_memory(spec)
    play(other, ["look"], 1)
    assert other.recall(Cue(""), 1000).lessons


def test_a_part_takes_the_operations() -> None:
    env = gym.make(FAKE_ID, memory="fusion?of=arigraph+notes")
    _, info = env.reset(seed=0)
    assert "note: TEXT" in info["operations"]
    obs, *_, info = env.step("note: the key is in the hall")
    assert info["moves"] == 0
    assert obs["lessons"] == ("1. the key is in the hall",)
    assert obs["triples"]
    assert info["memory_stats"].writes == 1


def test_snapshot_and_fork_keep_the_parts_apart() -> None:
    memory = Fusion(of="clin+arigraph")
    play(memory, DETOUR)
    state = json.dumps(memory.state())
    twin, snapshot = memory.fork(), memory.snapshot()
    play(twin, DETOUR, 1)
    assert json.dumps(memory.state()) == state
    play(memory, DETOUR, 2)
    memory.restore(snapshot)
    assert json.dumps(memory.state()) == state


@pytest.mark.parametrize(
    ("of", "shares", "match"),
    [
        ("", "", "expected of as memories"),
        ("oracle+clin", "", "expected of as memories without engine facts"),
        ("rag+clin", ".5", "expected 2 shares"),
        ("rag+clin", ".5+.6", "sum to 1"),
        ("rag+clin", "1.5+-.5", ">= 0"),
        ("rag+clin", "half+half", "expected 2 shares"),
    ],
)
def test_wrong_values_are_refused(of: str, shares: str, match: str) -> None:
    with pytest.raises(InvalidArgumentError, match=match):
        Fusion(of=of, shares=shares)
    with pytest.raises(UnknownNameError, match="'rag'"):
        Fusion(of="rgg+clin")

"""From NetHack's text to facts: the rules, the tracker's own facts, and a memory of them."""

from __future__ import annotations

from importlib.util import find_spec

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rules.nethack import Descender
from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.games.nethack.rules import HAS_EXIT, HAS_ITEM, SIGHTING
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import route, unexplored_exits

TASK = Task("t", "", "nethack")
RULES = get_extractor("nethack")
ROOM_1 = """You are in room 1 of level 1, on stairs up.
Room 1, explored.
- features: stairs up (here)
- exits: door 1 (doorway, 5 east); door 2 (closed, 2 west, 1 north)
- items: dart (1 east); dart (2 east); newt corpse (3 east)
- monsters: jackal (4 east); tame kitten (1 west)
Status: HP 16 of 16, AC 6, experience level 1, power 2 of 2, gold 0, turn 1."""


def learn(*steps):
    """Return the graph after these texts, each with its inventory."""
    graph = TemporalGraph()
    for t, step in enumerate(steps):
        text, inventory = (step, "") if isinstance(step, str) else step
        apply(RULES.extract(Step(t, text, inventory=inventory), graph, TASK), graph, t)
    return graph


def about(graph, subject):
    return {(relation, obj) for _, relation, obj in graph.outgoing(subject)}


def test_a_room_is_read():
    graph = learn(ROOM_1)
    assert about(graph, "room 1 of level 1") == {
        ("is", "explored"), (HAS_EXIT, "door 1"), (HAS_EXIT, "door 2"), (HAS_EXIT, "up"),
        (HAS_ITEM, "dart"), (HAS_ITEM, "dart 2"), (HAS_ITEM, "newt corpse"),
    }  # fmt: skip
    assert about(graph, "door 2 of level 1") == {("is", "closed")}
    assert about(graph, "stairs up of level 1") == {("is in", "room 1 of level 1")}
    assert about(graph, "jackal") == {(SIGHTING, "room 1 of level 1")}
    assert about(graph, "you") == {("is in", "room 1 of level 1")}
    assert about(graph, "door 1 of level 1") == set()  # a doorway is neither open nor closed


def test_spans_point_at_the_evidence():
    for triple, start, end in RULES.extract(Step(0, ROOM_1), TemporalGraph(), TASK).mentions:
        said = ROOM_1[start:end].lower()
        if triple.relation in (HAS_ITEM, HAS_EXIT):
            assert said in (triple.object, triple.object.removesuffix(" 2"), "stairs up")
        elif triple.relation == SIGHTING:
            assert said == triple.subject
        else:
            assert said


def test_thing_missing_in_a_room_is_gone():
    later = ROOM_1.replace("dart (1 east); dart (2 east); ", "").replace("jackal (4 east); ", "")
    graph = learn(ROOM_1, later.replace("(closed,", "(open,"))
    assert {o for r, o in about(graph, "room 1 of level 1") if r == HAS_ITEM} == {"newt corpse"}
    assert about(graph, "jackal") == set()
    assert about(graph, "door 2 of level 1") == {("is", "open")}
    assert Triple("jackal", SIGHTING, "room 1 of level 1") in graph.as_of(0)
    broken = learn(ROOM_1, ROOM_1.replace("(closed,", "(doorway,"))
    assert about(broken, "door 2 of level 1") == set()


def test_door_of_two_areas_is_a_way_between_them():
    corridor = """You are in corridor 1 of level 1.
Corridor 1, explored.
- exits: door 1 (doorway, 1 west); door 3 (closed, 2 east)"""
    graph = learn(ROOM_1, corridor)
    ways = {
        Triple("corridor 1 of level 1", "is through door 1 of", "room 1 of level 1"),
        Triple("room 1 of level 1", "is through door 1 of", "corridor 1 of level 1"),
    }
    assert ways <= set(graph.live())
    assert route(graph, "room 1 of level 1") == [("door 1", "room 1 of level 1")]
    assert [t.object for t in unexplored_exits(graph, "corridor 1 of level 1")] == ["door 3"]
    other_level = corridor.replace("level 1", "level 2")
    assert not any("through" in t.relation for t in learn(ROOM_1, other_level).live())


def test_passed_areas_and_merged_ones():
    graph = learn(
        ROOM_1,
        """Corridor 2 of level 1 is part of corridor 1 of level 1.
You are in corridor 3 of level 1.
Corridor 3, explored.
On the way, in room 2 of level 1:
Room 2, general store, partly explored.
- items: apple for 7 zorkmids""",
    )
    assert about(graph, "room 2 of level 1") == {
        ("is", "general store"), ("is", "partly explored"), (HAS_ITEM, "apple for 7 zorkmids"),
    }  # fmt: skip
    before = """You are in corridor 2 of level 1.
Corridor 2, explored.
- exits: door 1 (doorway, 1 west)
- items: egg (here)"""
    merged = learn(
        ROOM_1,
        before,
        """Corridor 2 of level 1 is part of corridor 1 of level 1.
You are in room 1 of level 1.
Room 1, explored.
- exits: door 1 (doorway, 5 east)""",
    )
    assert about(merged, "corridor 2 of level 1") == set()
    assert (HAS_ITEM, "egg") in about(merged, "corridor 1 of level 1")
    assert (HAS_EXIT, "door 1") in about(merged, "corridor 1 of level 1")
    way = Triple("corridor 1 of level 1", "is through door 1 of", "room 1 of level 1")
    assert way in merged


def test_stairs_join_levels():
    below = """You took stairs down 2 of room 1 of level 1.
You are in room 1 of mines level 2, on stairs up.
Room 1, partly explored.
- features: stairs up (here)"""
    graph = learn(ROOM_1, below)
    down = Triple("room 1 of mines level 2", "is through stairs down 2 of", "room 1 of level 1")
    up = Triple("room 1 of level 1", "is up of", "room 1 of mines level 2")
    assert down in graph
    assert up in graph
    assert route(graph, "room 1 of level 1") == [("up", "room 1 of level 1")]


def test_the_pack_is_followed():
    graph = learn(
        (ROOM_1, "a - a +1 long sword (weapon in hand)\nc - a +3 small shield (being worn)"),
        (ROOM_1, "a - a +1 long sword\nb - 2 food rations"),
        (ROOM_1, ""),  # not shown
    )
    assert {t.subject for t in graph.incoming("inventory")} == {"+1 long sword", "food rations"}
    assert about(graph, "you") == {("is in", "room 1 of level 1")}
    assert not learn((ROOM_1, "a - an egg"), (ROOM_1, "You carry nothing.")).incoming("inventory")


@given(st.text(max_size=300) | st.lists(st.sampled_from(ROOM_1.split("\n"))).map("\n".join))
@settings(max_examples=60)
def test_odd_text_is_read_without_harm(text):
    graph = learn(ROOM_1, text, (text, text))
    assert all(part for triple in graph.live() for part in triple)


# ------------------------------------------------------------ on the real game

needs_nle = pytest.mark.skipif(find_spec("nle") is None, reason="NLE is not installed")
COMPARED = (HAS_EXIT, HAS_ITEM, "is in", "is")


def compared(facts, level):
    ending = f" of {level}"
    return {f for f in facts if f.relation in COMPARED and f.subject.endswith(ending)}


@pytest.mark.slow
@needs_nle
@pytest.mark.parametrize("seed", [1, 3, 6])
def test_level_view_states_exactly_the_facts_of_the_level(seed):
    env, policy = gym.make("gym_memory/NetHack-v0", view="level", memory="none"), Descender()
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    checked = 0
    for _ in range(60):
        obs, _, over, _, info = env.step(policy.act(obs, info))
        if over:
            break
        oracle = env.get_wrapper_attr("oracle")()
        if "\nMap of" in obs["text"]:
            found = RULES.extract(Step(0, obs["text"]), TemporalGraph(), TASK)
            level = oracle.objects["level"]
            assert compared({m.triple for m in found.mentions}, level) == compared(
                oracle.facts, level
            )
            assert compared(oracle.objects["seen"], level) == compared(oracle.facts, level)
            checked += 1
    assert checked > 20
    env.close()


@pytest.mark.slow
@needs_nle
def test_memory_of_room_views_keeps_level_and_recalls_it():
    env, policy = gym.make("gym_memory/NetHack-v0", memory="arigraph", budget=2000), Descender()
    obs, info = env.reset(seed=4)
    policy.reset(info, 4)
    shares, recalled = [], []
    for _ in range(80):
        obs, _, over, _, info = env.step(policy.act(obs, info))
        if over:
            break
        oracle = env.get_wrapper_attr("oracle")()
        live = set(env.get_wrapper_attr("memory").graph.live())
        wanted = {f for f in oracle.facts if f.relation in (HAS_EXIT, HAS_ITEM, "is in")}
        shares.append(len(wanted & live) / len(wanted))
        stairs = [f for f in wanted if f.subject.startswith("stairs") and f in live]
        here = {f.object for f in wanted if f.subject == "you"}
        recalled += [f in obs["triples"] for f in stairs if f.object not in here]
    assert sum(shares) / len(shares) > 0.95
    assert len(recalled) > 20
    assert sum(recalled) / len(recalled) > 0.9  # stairs of other rooms, of other levels too
    env.close()


@pytest.mark.slow
@needs_nle
def test_quality_is_measured_as_for_other_families():
    from gym_memory.evaluate.quality.score import measure, summarize
    from gym_memory.run.config import Job

    jobs = [Job("NetHack?max_steps=50", "arigraph", "descender", seed) for seed in (1, 2)]
    (row,) = summarize(measure(job) for job in jobs)
    assert row.precision > 0.97
    assert row.recall > 0.93
    assert row.staleness < 0.01

"""The map in a memory against the engine's: a small world in seven styles, and two stories."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path

import pytest
import worlds

import gym_memory
from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Oracle, Triple
from gym_memory.evaluate.quality.score import measure, summarize
from gym_memory.evaluate.quality.truth import MapWatch
from gym_memory.graph import TemporalGraph
from gym_memory.run.config import Job
from gym_memory.wrappers.make import make_env

STORIES = Path(
    os.environ.get("GYM_MEMORY_STORIES")
    or Path(__file__).parents[3] / "shared" / "data" / "stories"
)


def test_counts_of_a_step() -> None:
    graph = TemporalGraph()
    for fact in (
        ("you", "is in", "hall"), ("hall", "has exit", "up"), ("attic", "is north of", "hall"),
        ("brass lamp", "is in", "hall"),
    ):  # fmt: skip
        graph.add(Triple(*fact), 0)
    facts = frozenset({
        Triple("you", "is in", "The Hall"), Triple("the hall", "has exit", "north"),
        Triple("loft", "is north of", "the hall"), Triple("the hall", "has exit", "west"),
        Triple("lamp", "is in", "the hall"), Triple("old rug", "is in", "the hall"),
        Triple("coin", "is in", "cellar"),
    })  # fmt: skip
    watch = MapWatch()
    watch.see(Oracle(facts), "A lamp on a rug. A door leads west, another north.", "", graph)
    assert watch.truth.shares == {
        "place": 1.0, "exit precision": 0.5, "exit recall": 0.5, "ways": 0.0, "objects": 0.5,
    }  # fmt: skip
    watch.see(Oracle(facts | {Triple("you", "is in", "cellar")}), "", "", TemporalGraph())
    assert watch.truth.steps == 2
    watch.see(Oracle(), "A lamp.", "", graph)
    assert watch.truth.steps == 2
    assert all(map(math.isnan, MapWatch().truth.shares.values()))


@pytest.mark.slow
@pytest.mark.parametrize("style", worlds.World.__subclasses__())
def test_a_world_of_any_style_is_mapped(style: type[worlds.World]) -> None:
    for seed in range(3):
        env = gym_memory.wrap(style(), valid_actions="env.actions", max_steps=150)
        watch = MapWatch()
        policy, action, done = make_policy("random"), "", False
        obs, info = env.reset(seed=seed)
        policy.reset(info, seed)
        while True:
            graph = env.get_wrapper_attr("memory").graph
            watch.see(env.unwrapped.oracle(), obs["text"], action, graph)
            if done:
                break
            action = policy.act(obs, info)
            obs, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        shares = watch.truth.shares
        assert watch.truth.exits > 200
        assert shares["place"] >= 0.95
        assert shares["exit precision"] >= 0.95
        assert shares["exit recall"] >= 0.85
        assert shares["ways"] >= 0.95
        assert shares["objects"] >= 0.9


def test_quality_counts_the_map_of_a_foreign_world() -> None:
    job = Job("Foreign?entry=worlds:Status&valid_actions=env.actions&max_steps=30", "arigraph",
              "random", 0)  # fmt: skip
    (row,) = summarize([measure(job)])
    assert row.map.steps == 31
    assert row.map.shares["place"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("story", "seed"), [("zork1", 12), ("zork3", 1)])
def test_stories_are_mapped_along_their_walkthrough(story: str, seed: int) -> None:
    jericho = pytest.importorskip("jericho")
    if not (STORIES / f"{story}.z3").exists():
        pytest.skip(f"no {story}.z3 in {STORIES}")
    solutions = {known["name"]: known for known in jericho.defines.BINDINGS_DICT.values()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = make_env(
            "Jericho", memory="arigraph?episodic=false", path=str(STORIES / f"{story}.z3"),
            story_seed=seed, max_steps=1000, valid_actions=False,
        )  # fmt: skip
        obs, _ = env.reset(seed=0)
        watch, graph = MapWatch(), env.get_wrapper_attr("memory").graph
        watch.see(env.unwrapped.oracle(), obs["text"], "", graph)
        for action in solutions[story]["walkthrough"].split("/"):
            obs, _, terminated, *_ = env.step(action)
            graph = env.get_wrapper_attr("memory").graph
            watch.see(env.unwrapped.oracle(), obs["text"], action, graph)
            if terminated:
                break
        env.close()
    shares = watch.truth.shares
    assert watch.truth.steps > 200
    assert shares["place"] >= 0.95
    assert shares["exit precision"] >= 0.95
    assert shares["exit recall"] >= 0.85

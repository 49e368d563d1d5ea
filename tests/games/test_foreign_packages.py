"""The snippets of docs/foreign-environments.md, on environments that others wrote."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
from gymnasium.utils.env_checker import check_env

import gym_memory
from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Triple
from gym_memory.run import rollout

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "foreign"))
from arena import CHANGES, play
from draw import environment, snippets

pytestmark = pytest.mark.slow

MODULES = {
    "textworld": "textworld",
    "scienceworld": "scienceworld",
    "textworld-express": "textworld_express",
    "textarena": "textarena",
    "minigrid": "minigrid",
    "sokoban": "textarena",
    "2048": "textarena",
    "colossal-cave": "adventure",
}
SOURCES = {
    "textworld": {
        "text": "obs", "task": "info.objective", "inventory": "info.inventory",
        "valid_actions": "info.admissible_commands", "score": "info.score",
        "max_score": "info.max_score", "won": "info.won", "lost": "info.lost",
        "dialect": "textworld (found)",
    },
    "scienceworld": {
        "text": "obs", "task": "info.taskDesc", "inventory": "info.inv",
        "valid_actions": "info.valid", "score": "info.score", "max_score": "given",
        "won": "score = max_score", "dialect": "scienceworld (found)",
    },
    "textworld-express": {
        "text": "obs", "task": "info.taskDescription", "inventory": "info.inventory",
        "valid_actions": "info.validActions", "score": "info.score", "max_score": "given",
        "won": "info.tasksuccess", "lost": "info.taskfailure", "dialect": "plain (found)",
    },
    "textarena": {
        "text": "obs", "task": "first text", "valid_actions": "given", "score": "rewards",
        "won": "solved", "dialect": "plain (found)",
    },
    "sokoban": {
        "text": "obs", "task": "first text", "valid_actions": "given", "score": "rewards",
        "max_score": "given", "won": "score = max_score", "dialect": "plain (found)",
    },
    "2048": {
        "text": "obs", "task": "first text", "valid_actions": "given", "score": "info.score",
        "won": "info.won", "dialect": "plain (found)",
    },
    "colossal-cave": {
        "text": "obs", "task": "given", "score": "info.score", "max_score": "info.max_score",
        "won": "score = max_score", "dialect": "plain (found)",
    },
    "minigrid": {
        "text": "describe", "task": "obs.mission", "valid_actions": "action_space",
        "score": "rewards", "won": "unknown", "dialect": "plain (found)",
    },
}  # fmt: skip
FACTS = {
    "textworld": ("you", "is in", "bedroom"),
    "scienceworld": ("you", "is in", "hallway"),
    "textworld-express": ("cutlery drawer", "is", "closed"),
    "textarena": ("a", "is", "[3, 2, 1]"),
    "minigrid": ("green key", "is seen", "1 step right"),
    "sokoban": ("available moves", "is", "up, down, left, right"),
    "2048": ("score", "is", "0"),
    "colossal-cave": ("you", "is in", "end of road"),
}
"""A fact of the first text of seed 0."""


@pytest.fixture(scope="module", params=MODULES)
def name(request):
    pytest.importorskip(MODULES[request.param])
    return request.param


@pytest.fixture(scope="module")
def env(name):
    made = environment(name)
    yield made
    made.close()


def test_the_documentation_names_them_all() -> None:
    assert set(snippets()) == set(MODULES) == set(SOURCES)


def test_passes_gymnasiums_own_check(env) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", message=".*(different from the unwrapped|spec|supported).*"
        )
        check_env(env, skip_render_check=True)


def test_wrapper_finds_stated_facts_and_remembers_them(name, env) -> None:
    env.reset(seed=0)
    env.step("look")  # some say their score only now
    obs, info = env.reset(seed=0)
    assert info["sources"] == SOURCES[name]
    assert obs["text"]
    assert obs["task"]
    assert bool(obs["valid_actions"]) == ("valid_actions" in SOURCES[name])
    assert name not in FACTS or Triple(*FACTS[name]) in env.memory.graph


def test_episode_is_reproducible(name, env) -> None:
    results = [rollout(env, make_policy("random"), 1, limit=5) for _ in range(2)]
    assert 1 <= results[0].steps <= 5
    assert results[0].n_invalid == 0
    fields = ["task_id", "steps", "score", "curve", "success"]
    fields += ["tokens"] * (name != "scienceworld")  # it lists things in an order of its own
    for field in fields:
        assert getattr(results[0], field) == getattr(results[1], field), field


def test_a_grid_is_won_by_its_names(name, env) -> None:
    if name != "textarena":
        pytest.skip("its solution is known for TextArena's towers only")
    env.reset(seed=0)
    for move in ("A C", "A B", "C B", "A C", "B A", "B C", "A C"):
        _, reward, terminated, _, info = env.step(f"[{move}]")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert info["normalized_score"] is None  # the best score is unknown


def test_recipes_are_short() -> None:
    for name in ("sokoban", "2048", "colossal-cave"):
        assert len(snippets()[name].splitlines()) <= 25


@pytest.mark.parametrize("game", CHANGES)
def test_random_player_has_no_undefined_win(game: str) -> None:
    """An end with a positive reward, as most of these games give for part of the way, is no win."""
    pytest.importorskip("textarena")
    row = play(game, range(2))
    assert (row["successes"], row["normalized"]) == (None, False)


@pytest.mark.parametrize(
    ("game", "options"),
    [("cookingworld", "numLocations=3, numIngredients=2"), ("coin", "numLocations=8"),
     ("twc", "numLocations=3,numItemsToPutAway=2,includeDoors=0"), ("simonsays", ""),
     ("peckingorder", "")],
)  # fmt: skip
def test_planner_wins_games_with_other_commands(game: str, options: str) -> None:
    """``move north``, ``open door to north``, ``cook onion in oven``, rooms seen from afar.

    Of seed 3 the states of food are in the inventory alone; of 1 a first guess costs points.
    """
    express = pytest.importorskip("textworld_express")
    engine = express.TextWorldExpressEnv(envStepLimit=50)
    engine.load(game, options)
    engine.gameFold = "train"
    env = gym_memory.wrap(engine, max_score=1.0, seeds=100, memory="arigraph")
    scores = [rollout(env, make_policy("planner"), seed, limit=50).score for seed in (1, 3)]
    assert scores == [1.0, 1.0]
    env.close()

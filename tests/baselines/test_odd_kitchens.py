"""The planner in kitchens of TextWorld's cooking generator with unusual names."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.textworld.cooking import blade, cook
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.core.records import Observation, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.games.textworld import voices
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.games import compile_game, generate
from gym_memory.run import EpisodeResult, rollout

pytestmark = pytest.mark.slow

pytest.importorskip("textworld")

WORDS = {
    "kitchen": ["galley"],
    "cookbook": ["placemat"],
    "knife": ["whetted tanto"],
    "stove": ["Vulcan"],
    "oven": ["Etna"],
    "BBQ": ["Hekla"],
}
FORMS = {
    "requires": ["Lay out {foods} before you begin", "It calls for {foods}"],
    "needs": ["{food} deserves to be {done}", "Carefully {do} {food}, then set it aside"],
    "prepared in": ["Assemble the meal in {kitchen}"],
}


def kitchen(path: Path, monkeypatch: pytest.MonkeyPatch, goal: str, **settings: Any) -> Path:
    """Return a compiled game of two ingredients to cut and heat."""
    words = copy.deepcopy(dict(voices.load_voices("train")))
    words["kitchen"] = {**words["kitchen"], **WORDS}
    words["forms"] = {**words["forms"], **FORMS, "cook goal": [goal]}
    monkeypatch.setattr(voices, "load_voices", lambda split: words)
    level = {
        "voice": 2, "recipe": [2], "go": [6], "open": [True], "cook": [True], "cut": [True],
        "drop": [False], "steps": 100, **settings,
    }  # fmt: skip
    game = generate(Cooking, level, "train", 11)
    story = path / "game.z8"
    compile_game(game, story)
    return story


def play(story: Path, memory: str) -> EpisodeResult:
    env = gym.make("gym_memory/TextWorld-v0", path=str(story), memory=memory, max_steps=100)
    try:
        return rollout(env, Planner(), 0)
    finally:
        env.close()


@pytest.mark.parametrize(
    "goal", ["Study {book} and make what it says", "Can you make a meal worth eating?", ""]
)
def test_planner_cooks_where_all_tools_have_other_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str
) -> None:
    assert play(kitchen(tmp_path, monkeypatch, goal), "arigraph").success


def believed(
    triples: tuple[Triple, ...], actions: tuple[str, ...] = ("look",), goal: str = ""
) -> Beliefs:
    empty = dict.fromkeys(("text", "task", "inventory", "memory"), "")
    lists = {"valid_actions": actions, "triples": triples, "episodes": (), "lessons": ()}
    obs: Observation = {**empty, **lists}  # type: ignore[typeddict-item]
    return Beliefs(obs, get_extractor("textworld"), Task("t", goal, "textworld"))


def moves(triples: tuple[Triple, ...], actions: tuple[str, ...]) -> list[str]:
    return [move.action for move in cook(believed(triples, actions))]


HELD = (
    Triple("you", "is in", "galley"),
    Triple("recipe", "requires", "swede"),
    Triple("swede", "needs to be", "fried"),
    Triple("swede", "is in", "inventory"),
    Triple("vulcan", "is in", "galley"),
)
COOK = ("examine Vulcan", "cook swede with Vulcan", "look")


def test_looks_at_an_appliance_before_it_is_used() -> None:
    assert moves(HELD, COOK)[0] == "examine vulcan"
    known = (*HELD, Triple("vulcan", "used for", "frying"))
    assert moves(known, COOK)[0] == "cook swede with vulcan"
    other = (*HELD, Triple("vulcan", "used for", "roasting"))
    assert "cook swede with vulcan" not in moves(other, COOK)


def test_unknown_appliance_is_tried_on_unneeded_food() -> None:
    seen = (
        *HELD,
        Triple("egg", "is in", "inventory"),
        Triple("galley", "tried", "examine vulcan"),
    )
    tried = [a for a in moves(seen, (*COOK, "cook egg with Vulcan")) if a.startswith("cook ")]
    assert tried == ["cook egg with vulcan", "cook swede with vulcan"]


def test_meal_is_prepared_without_missing_ingredients() -> None:
    done = [fact for fact in HELD if fact.relation != "needs to be"]
    asked = Triple("recipe", "requires", "making")
    assert moves((*done, asked), ("look", "prepare meal"))[:1] == ["prepare meal"]


def test_attempts_and_persons_are_not_things() -> None:
    deed = (Triple("you", "is in", "hall"), Triple("hall", "tried", "examine old blade"))
    assert blade(believed(deed), ["swede"]) == "knife"
    aims = [move.aim for move in cook(believed(deed, goal="Your task: cook a meal for you"))]
    assert not any("read the you" in aim for aim in aims)


def test_cookbook_in_a_tidying_task_starts_no_cooking() -> None:
    book = (
        Triple("you", "is in", "study"),
        Triple("cookery book", "is on", "shelf"),
        Triple("shelf", "is in", "study"),
    )
    for goal in ("Exactly 6 items are misplaced. Return them.", "After dinner, tidy up.", ""):
        known = believed(book, ("look", "examine cookery book"), goal)
        assert not list(cook(known))

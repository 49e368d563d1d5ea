"""The scripted descender: its reading, its state and its depth."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from heirs import heirs_go_on_as_the_first_would
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rules.nethack import Descender, Descent, DungeonView
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Task, Triple

STATUS = (
    "Status: HP {hp} of 16, AC 6, experience level {level}, power 2 of 2, gold 0, turn {turn}"
    "{state}."
)


def shown(
    *actions: str, hp: int = 16, level: int = 1, turn: int = 400, state: str = "", **fields: Any
) -> Observation:
    text = fields.pop("text", "Room 2, explored.")
    status = STATUS.format(hp=hp, level=level, turn=turn, state=f"; you are {state}" * bool(state))
    empty: dict[str, Any] = {"task": "", "inventory": "", "memory": "", "triples": ()}
    return Observation(
        text=f"You are in room 2 of level 1.\n{text}\n{status}",
        valid_actions=("explore level", "search", "pray", *actions),
        episodes=(),
        lessons=(),
        **{**empty, **fields},
    )


def choice(obs: Observation, plan: Descent | None = None) -> str:
    policy = make_policy("descender")
    policy.reset({"dialect": "nethack"}, 0)
    policy.focus = plan or Descent()
    return policy.act(obs, {})


STAIRS = Triple("stairs down of level 1", "is in", "room 4 of level 1")


def test_descender_explores_until_fit_and_then_descends() -> None:
    assert choice(shown()) == "explore level"
    assert choice(shown("go down")) == "explore level"
    assert choice(shown("go down", level=2)) == "go down"
    assert choice(shown("go to stairs down", level=2)) == "explore level"  # it sees none
    here = "Room 2, explored.\n- features: stairs down (3 east)"
    assert choice(shown("go to stairs down", level=2, text=here)) == "go to stairs down"
    eager = Descender(eager=1)
    eager.reset({"dialect": "nethack"}, 0)
    assert eager.act(shown("go down"), {}) == "go down"


def test_recall_leads_to_the_stairs() -> None:
    obs = shown("go to room 4", "go to room 3", level=2)
    assert choice(obs) == "explore level"
    assert choice({**obs, "triples": (STAIRS,)}) == "go to room 4"
    elsewhere = STAIRS._replace(subject="stairs down of level 3", object="room 4 of level 3")
    assert choice({**obs, "triples": (elsewhere,)}) == "explore level"


def test_player_without_memory_goes_in_circles() -> None:
    nothing = shown("go to room 4", text="You find nothing left to explore on this level.")
    found = {choice(nothing), choice(nothing, Descent("find the stairs down", "look", turn=1))}
    assert found <= {"go to room 4", "explore level"}


def test_rules_keep_the_player_alive() -> None:
    assert choice(shown(hp=2)) == "pray"
    assert choice(shown(hp=2, turn=20)) == "search 20"
    assert choice(shown(hp=2), Descent("rest", "search", turn=390, prayed=300)) != "pray"
    assert choice(shown(state="weak from hunger")) == "pray"
    assert choice(shown("eat food ration (d)", state="hungry")) == "eat food ration (d)"
    assert choice(shown(hp=8)) == "search 20"
    beside = "Room 2, explored.\n- monsters: jackal (1 east); newt (4 west)"
    fight = shown("melee attack newt", "melee attack jackal", text=beside)
    assert choice(fight) == "melee attack jackal"
    assert choice(shown("melee attack floating eye")) == "explore level"
    unpaid = shown("drop egg (k)", inventory="k - an egg (unpaid, 12 zorkmids)")
    assert choice(unpaid) == "drop egg (k)"
    question = {**shown(), "valid_actions": ("answer y", "answer n", "cancel")}
    assert choice(question) == "answer n"


FRESH = Descent("get rid of the newt", "melee attack newt", turn=390)
OVER = "You find nothing left to explore on this level."
MOLD = f"{OVER}\n- monsters: brown mold (1 east)"
LOCKED = (Triple("door 1 of level 1", "is", "locked"),
          Triple("room 4 of level 1", "has exit", "door 1"))  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "obs", "action"),
    [
        (FRESH, shown("go to newt corpse", state="hungry"), "go to newt corpse"),
        (Descent("eat the newt corpse", "go to newt corpse", turn=390),
         shown("eat here", state="hungry"), "eat here"),
        (FRESH, shown("go to food ration"), "go to food ration"),
        (Descent("take food along", "go to food ration"), shown("pick up"), "pick up"),
        (None, shown("go up", hp=2, turn=20, text="- monsters: jackal (1 east)"), "go up"),
        (None, shown("melee attack brown mold", text=MOLD), "melee attack brown mold"),
        (None, shown("kick door 1", text=OVER), "kick door 1"),
        (None, shown("go to room 4", text=OVER, triples=LOCKED), "go to room 4"),
    ],
)  # fmt: skip
def test_player_eats_flees_and_breaks_out(
    plan: Descent | None, obs: Observation, action: str
) -> None:
    assert choice(obs, plan) == action


def test_action_that_takes_no_time_is_replaced() -> None:
    stuck = Descent("explore", "explore level", idle=2, turn=400)
    assert choice(shown("go north", "go east"), stuck) in ("go north", "go east", "search")


@pytest.mark.slow
@settings(max_examples=50)
@given(st.text(max_size=300))
def test_odd_observations_do_no_harm(text: str) -> None:
    obs = {**shown(), "text": text}
    assert choice(obs) in obs["valid_actions"]
    DungeonView(obs, Task("", "", "nethack"))


@pytest.mark.slow
def test_player_keeps_only_its_plan() -> None:
    pytest.importorskip("nle", reason="NLE is not installed")
    env = gym.make("gym_memory/NetHack-v0", memory="arigraph", max_steps=60)
    actions, _ = heirs_go_on_as_the_first_would(env, Descender, seed=6)
    assert len(set(actions)) > 4


@pytest.mark.slow
def test_player_descends_and_scores() -> None:
    pytest.importorskip("nle", reason="NLE is not installed")
    env = gym.make("gym_memory/NetHack-v0", memory="arigraph", max_steps=150)
    scores, depths = [], []
    for seed in (3, 4, 5, 6):
        policy = make_policy("descender")
        obs, info = env.reset(seed=seed)
        policy.reset(info, seed)
        over = False
        while not over:
            obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
            over = terminated or truncated
        scores.append(info["score"])
        depths.append(info["max_depth"])
    assert sum(scores) / 4 > 200
    assert sum(depths) / 4 > 2
    env.close()


@pytest.mark.parametrize("eager", [-1, 21, True, "1"])
def test_bad_arguments_are_named(eager: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="eager"):
        Descender(eager=eager)

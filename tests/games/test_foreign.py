"""Any environment with text can be wrapped: detected fields and their use."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import gym_memory
from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import BackendError, InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec, import_plugin
from gym_memory.core.records import Triple
from gym_memory.core.trajectory import read_trajectory
from gym_memory.draw.figures import score_figure
from gym_memory.games.foreign import ForeignEnv, make_foreign
from gym_memory.games.spaces import FreeText
from gym_memory.run import rollout
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.play import play_job
from gym_memory.run.results.score import differences, score_lines, table, units
from gym_memory.testing.fake_env import RAW_ID, FakeHouse
from gym_memory.wrappers import EncodeText, IndexActions, RecordTrajectory
from gym_memory.wrappers.make import make_env

pytestmark = pytest.mark.slow

RAW = ("text", "task", "inventory", "valid_actions")


class Pictured(gym.Env):
    """A text environment with frames of its own."""

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 4}  # noqa: RUF012
    observation_space, action_space = FreeText(max_length=100), FreeText(max_length=100)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        return "A hall.", {}

    def step(self, action: str):
        return "A hall.", 0.0, False, False, {}

    def render(self):
        return np.full((2, 2, 3), 7, np.uint8) if self.render_mode == "rgb_array" else None


def test_own_frames_of_the_environment_are_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    env = gym_memory.wrap(Pictured("rgb_array"), memory="history")
    video = gym.wrappers.RenderCollection(env)
    video.reset(seed=0)
    video.step("look")
    assert [frame.max() for frame in video.render()] == [7, 7]
    assert env.metadata["render_fps"] == 4
    shown = gym_memory.wrap(Pictured("human"))
    shown.reset(seed=0)
    assert capsys.readouterr().out == ""
    text = gym_memory.wrap(Pictured("rgb_array"), render_mode="ansi")
    text.reset(seed=0)
    assert text.render() == "A hall."
    assert gym_memory.wrap(Pictured()).render_mode is None


class Lamp:
    """Two rooms and a lamp to be carried to the hall; old signatures, a string observation."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def seed(self, seed: int) -> None:
        self.seeds.append(seed)

    def reset(self) -> str:
        self.room, self.held, self.t = "attic", False, 0
        return "You are in the attic. You see a lamp. To the North you see the hall."

    def step(self, action: str):
        self.t += 1
        reward, done = 0.0, False
        if action == "take lamp" and self.room == "attic":
            self.held, text = True, "You take the lamp."
        elif action == "go north":
            self.room, text = "hall", "You are in the hall. To the South you see the attic."
            reward, done = (1.0, True) if self.held else (0.0, False)
        elif action == "go south":
            self.room, text = "attic", "You are in the attic. To the North you see the hall."
        else:
            text = "Nothing happens."
        return text, reward, done, {"moves": self.t}


class Grid(gym.Env):
    """Discrete actions with names, a Dict observation, a mask, five values."""

    def __init__(self, key: str = "text") -> None:
        self.key = key
        self.observation_space = spaces.Dict({key: FreeText(), "pixels": spaces.Box(0, 1, (2,))})
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(3))
        return self._obs(), {"action_mask": np.array([self.at > 0, 1, 1], np.int8)}

    def step(self, action):
        self.at += {0: -1, 1: 0, 2: 1}[int(action)]
        end = self.at > 3
        return self._obs(), float(end), end, False, {"success": end, "goal": "Go right."}

    def _obs(self):
        return {self.key: f"You are at {self.at}.", "pixels": np.zeros(2, np.float32)}


class Chat:
    """A chat that grows; a system message with the task."""

    def reset(self, seed=None):
        self.log = [
            {"role": "system", "content": "Guess a number."},
            {"role": "user", "content": [{"type": "text", "text": "Between 1 and 3?"}]},
        ]
        self.number = 1 + (seed or 0) % 3
        return list(self.log)

    def step(self, action):
        right = action == str(self.number)
        self.log += [
            {"role": "assistant", "content": action},
            {"role": "user", "content": "Right." if right else "Wrong."},
        ]
        return list(self.log), float(right), right, False, {}


def test_old_signatures_and_a_bare_string() -> None:
    lamp = Lamp()
    env = gym_memory.wrap(lamp, valid_actions=["take lamp", "go north", "go south"])
    obs, info = env.reset(seed=7)
    assert lamp.seeds == [7]
    assert env.observation_space.contains(obs)
    assert obs["task"] == obs["text"].strip()  # nothing better is told
    assert obs["valid_actions"] == ("take lamp", "go north", "go south")
    assert info["sources"] == {
        "text": "obs", "task": "first text", "valid_actions": "given", "score": "rewards",
        "won": "unknown", "dialect": "plain (found)",
    }  # fmt: skip
    obs, reward, terminated, *_ = env.step("take lamp")
    assert Triple("lamp", "is in", "inventory") in obs["triples"]
    obs, reward, terminated, truncated, info = env.step("go north")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["score"], info["success"], info["lost"], info["moves"]) == (1.0, None, False, 2)
    assert info["normalized_score"] is None
    assert Triple("hall", "is north of", "attic") in env.memory.graph


@pytest.mark.parametrize(
    "written", [str.encode, str.splitlines, lambda text: text.encode() + b"\xff"]
)
def test_bytes_and_lines_are_text(written) -> None:
    class Written(Lamp):
        def reset(self):
            return written("You are in the attic.\nYou see a lamp.")

    env = gym_memory.wrap(Written(), seeds=3)
    obs, _ = env.reset(seed=1)
    assert (
        obs["text"].rstrip("\N{REPLACEMENT CHARACTER}") == "You are in the attic.\nYou see a lamp."
    )
    obs, *_, info = env.step("x" * 100_000)
    assert not info["is_action_valid"]
    ids = env.get_wrapper_attr("task_ids")
    assert (ids[1:], ids[-1]) == ([ids[1], ids[2]], ids[2])


def test_named_actions_a_mask_and_keys() -> None:
    env = gym_memory.wrap(Grid(), actions=["left", "wait", "right"], memory="none", task="Win.")
    obs, info = env.reset(seed=0)
    start = int(obs["text"].rstrip(".").rsplit(" ", 1)[1])
    assert obs["valid_actions"] == (("left", "wait", "right") if start else ("wait", "right"))
    assert obs["task"] == "Win."
    assert info["sources"]["valid_actions"] == "action_space"
    obs, reward, *_, info = env.step("fly")  # not handed on
    assert (obs["text"], reward, info["n_invalid"]) == ("There is no such action.", 0.0, 1)
    while not info["success"]:
        _, reward, terminated, _, info = env.step("right")
    assert terminated
    assert reward == 1.0


def test_numbers_of_actions_begin_where_their_space_does() -> None:
    class Numbers(Grid):
        def step(self, action):
            return self._obs(), float(action), False, False, {}

    class Discrete:  # of the old package gym
        n = 3

    for space, last in ((spaces.Discrete(3, start=5), "7"), (Discrete(), "2")):
        numbers = Numbers()
        numbers.action_space = space
        env = gym_memory.wrap(numbers, memory="none")
        assert env.reset(seed=0)[0]["valid_actions"][-1] == last
        assert [env.step(name)[1] for name in (last, "9")] == [float(last), 0.0]


@pytest.mark.parametrize("isolate", ["none", "process"])
def test_class_of_a_file_plays_as_a_foreign_environment(tmp_path, monkeypatch, isolate) -> None:
    (tmp_path / "lane.py").write_text(
        "class Lane:\n"
        "    def reset(self):\n        return 'A lane.'\n"
        "    def step(self, action):\n        return action, 1.0, True, {}\n"
        "def make():\n    return Lane()\n"
    )
    monkeypatch.chdir(tmp_path)
    import_plugin("./lane.py")
    env = make_env("./lane.py:Lane", memory="none", max_score=1, isolate=isolate)
    assert env.reset(seed=3)[1]["task_id"] == "./lane.py:Lane/3"
    assert env.step("run")[-1]["success"]
    env.close()
    with pytest.raises(InvalidArgumentError, match=r"Foreign\?entry=MODULE:FUNCTION"):
        make_env("./lane.py:make", memory="none")


def test_argument_overrides_automatic_detection() -> None:
    found = ForeignEnv(Grid())
    found.reset(seed=0)
    assert found.sources["text"] == "obs.text"
    said = ForeignEnv(
        Grid("page"),
        text="obs.page",
        task=lambda obs, info: "Find " + obs["page"],
        inventory="env.key",
        score=lambda obs, info: 7,
        max_score=14,
    )
    obs, info = said.reset(seed=0)
    assert obs["task"] == "Find " + obs["text"]
    assert obs["inventory"] == "page"
    assert (info["score"], info["normalized_score"]) == (7.0, 0.5)
    assert said.sources["text"] == "obs.page"


def test_a_chat() -> None:
    env = ForeignEnv(Chat())
    obs, info = env.reset(seed=1)
    assert (obs["text"], obs["task"]) == ("Between 1 and 3?", "Guess a number.")
    assert info["sources"]["task"] == "system message"
    assert env.step("1")[0]["text"] == "Wrong."
    assert env.step("1")[0]["text"] == "Wrong."
    obs, _, terminated, _, info = env.step("2")
    assert (obs["text"], terminated, info["success"]) == ("Right.", True, None)


def test_chat_with_calls_of_tools_has_their_text() -> None:
    class Tools(Chat):
        def step(self, action):
            self.log += [{"role": "assistant", "content": None}, {"role": "tool", "content": None}]
            parts = ["No.", {"type": "text"}, {"type": "image_url", "text": 1}]
            self.log.append({"role": "user", "content": parts})
            return list(self.log), 0.0, False, {}

    env = ForeignEnv(Tools())
    env.reset(seed=1)
    assert env.step("1")[0]["text"] == "No."


class Ends:
    """An old environment with given endings."""

    def __init__(self, reward: float = 0.0, **info) -> None:
        self.answer = "The end.", reward, True, info

    def reset(self):
        return "The beginning."

    def step(self, action):
        return self.answer


@pytest.mark.parametrize(
    ("env", "arguments", "expected"),
    [  # won, lost, terminated, truncated, score, reward
        (Ends(1.0), {}, (None, False, True, False, 1.0, 1.0)),
        (Ends(0.0), {}, (None, False, True, False, 0.0, 0.0)),
        (Ends(0.5), {"max_score": 1}, (False, True, True, False, 0.5, 0.5)),
        (Ends(0.0, won=True), {}, (True, False, True, False, 0.0, 0.0)),
        (Ends(5.0, success=False), {}, (False, True, True, False, 5.0, 5.0)),
        (Ends(0.0, won=False, lost=False), {}, (False, False, False, True, 0.0, 0.0)),
        (Ends(0.0, **{"TimeLimit.truncated": True}), {}, (None, False, False, True, 0.0, 0.0)),
        (Ends(3.0, score=3), {"max_score": 3}, (True, False, True, False, 3.0, 3.0)),
        (Ends(3.0), {"max_score": 4, "score": "cumulative"}, (False, True, True, False, 3.0, 3.0)),
        (Ends(1.0, score=9), {"score": "rewards"}, (None, False, True, False, 1.0, 1.0)),
        (Ends(0.0, done="yes"), {"won": "info.done"}, (True, False, True, False, 0.0, 0.0)),
    ],
)
def test_endings_and_scores(env, arguments, expected) -> None:
    wrapped = ForeignEnv(env, **arguments)
    wrapped.reset(seed=0)
    _, reward, terminated, truncated, info = wrapped.step("go")
    ending = (info["won"], info["lost"], terminated, truncated, info["score"], reward)
    assert ending == expected


def test_an_empty_action_is_not_listed() -> None:
    env = gym_memory.wrap(Lamp(), valid_actions=["", "take lamp ", "  ", "go north"])
    assert env.reset(seed=0)[0]["valid_actions"] == ("take lamp ", "go north")
    assert env.step("take lamp ")[4]["is_action_valid"]


class Unlisted(Lamp):
    """Two rooms whose listing of actions has a fault."""

    def listing(self):
        raise RuntimeError("no such room")


def test_a_listing_that_raises_is_named_or_empty() -> None:
    with pytest.raises(BackendError, match=r"valid actions of Unlisted .*no such room"):
        ForeignEnv(Unlisted(), valid_actions="env.listing").reset(seed=0)
    env = ForeignEnv(Unlisted(), valid_actions="env.listing", list_errors="empty")
    assert env.reset(seed=0)[0]["valid_actions"] == ()
    with pytest.raises(UnknownNameError, match="list_errors"):
        ForeignEnv(Unlisted(), list_errors="ignore")


def test_points_without_a_best_score_are_compared_as_points(tmp_path, monkeypatch) -> None:
    """Play a climb with an unknown best height: tables, intervals and differences use points."""
    (tmp_path / "climbs.py").write_text(CLIMB)
    monkeypatch.syspath_prepend(tmp_path)
    jobs = [
        Job("Foreign?entry=climbs:Climb&max_steps=4", memory, "random", seed)
        for memory in ("none", "present")
        for seed in range(3)
    ]
    rows = [row for job in jobs for row in play_job(job)]
    assert [EpisodeRow.from_json(row.to_json()) for row in rows] == rows
    line, other = table(units(rows))
    assert (line.score, line.success, line.raw) == (12.0, None, True)
    assert line.score_ci == pytest.approx((2.06, 21.94), abs=0.1)  # Student's, two degrees
    assert "12.00 points" in score_lines([line])[1][0]
    (gap,) = differences(units(rows), "memory")
    assert (gap.difference, gap.ci) == (0.0, (0.0, 0.0))
    assert ">12.00<" in score_figure([line, other], {"none": 0, "present": 1}).panels[0]


CLIMB = """
class Climb:
    def reset(self, seed):
        self.step_size = seed + 2
        return "You are at the foot of a hill."

    def step(self, action):
        return "You climb.", float(self.step_size), False, False, {}
"""


def test_the_score_so_far_in_place_of_a_reward() -> None:
    class Climbing(Ends):
        def step(self, action):
            self.answer = "Up.", self.answer[1] + 2.0, False, {}
            return self.answer

    env = ForeignEnv(Climbing(), score="cumulative")
    env.reset(seed=0)
    assert [env.step("go")[1] for _ in range(3)] == [2.0, 2.0, 2.0]
    assert env.step("go")[4]["score"] == 8.0


def test_all_layers_accept_a_foreign_house(tmp_path: Path) -> None:
    """Our own house as a foreign one: as the house itself, through all the layers."""
    env = gym_memory.wrap(gym.make(RAW_ID), memory="arigraph", dialect="textworld")
    direct = make_env("FakeHouse", memory="arigraph")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(different from the unwrapped|render|spec).*")
        check_env(env, skip_render_check=True)
    results = [rollout(e, make_policy("planner"), 3) for e in (env, direct)]
    assert results[0].score > 0
    for name in ("steps", "score", "normalized", "success", "n_invalid", "tokens", "curve"):
        assert getattr(results[0], name) == getattr(results[1], name), name

    path = tmp_path / "steps.jsonl.gz"
    recorded = RecordTrajectory(env, str(path), valid_actions=True)
    rollout(recorded, make_policy("random"), 1, limit=5)
    recorded.close()
    rows = list(read_trajectory(str(path)))
    assert len(rows) >= 1

    indexed = IndexActions(gym_memory.wrap(FakeHouse(), memory="history"), 32)
    _, info = indexed.reset(seed=0)
    indexed.step(indexed.action_space.sample(info["action_mask"]))
    encoded = EncodeText(IndexActions(gym_memory.wrap(FakeHouse()), 32))
    encoded.reset(seed=0)


def test_an_episode_can_be_played_again() -> None:
    env = ForeignEnv(Grid(), actions=["left", "wait", "right"])
    texts = [env.reset(seed=s)[0]["text"] for s in range(6)]
    assert [env.reset(seed=s)[0]["text"] for s in range(6)] == texts
    env.reset(seed=1)
    _, info = env.reset()  # draws a seed, which the id tells
    first = env.restore(env.snapshot())[0]["text"]
    assert env.reset(options={"task_id": info["task_id"]})[0]["text"] == first
    few = ForeignEnv(Grid(), seeds=2, name="grid")
    assert few.reset(seed=5)[1]["task_id"] == "grid/1"
    assert list(few.task_ids) == ["grid/0", "grid/1"]
    with pytest.raises(UnknownNameError, match="grid/<seed>"):
        few.reset(options={"task_id": "grid/7"})


def test_global_generators_are_replaced_and_restored() -> None:
    class Chancy:
        def reset(self):
            return f"You roll {random.randint(1, 10**6)}."

        def step(self, action):
            return f"{random.randint(1, 10**6)} {np.random.randint(10**6)}", 0.0, False, {}

    def play(env, meddle: bool) -> list[str]:
        texts = [env.reset(seed=4)[0]["text"]]
        for _ in range(4):
            if meddle:
                random.random(), np.random.rand()
            texts.append(env.step("roll")[0]["text"])
        return texts

    env = ForeignEnv(Chancy(), global_random=True)
    random.seed(1), np.random.seed(1)
    before = random.getstate(), repr(np.random.get_state())
    first = play(env, meddle=False)
    assert (random.getstate(), repr(np.random.get_state())) == before
    assert play(env, meddle=True) == first


def test_begin_chooses_the_game() -> None:
    class Loaded(Lamp):
        def load(self, number):
            self.number = number

        def reset(self):
            return f"Game {self.number}."

    env = ForeignEnv(Loaded(), begin=lambda env, seed: env.load(seed + 1), seeds=3)
    assert env.reset(seed=4)[0]["text"] == "Game 2."


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"text": "yes"}, InvalidArgumentError, "expected text as a path such as 'info.text'"),
        ({"valid_actions": "all"}, InvalidArgumentError, "valid_actions"),
        ({"valid_actions": [1, 2]}, InvalidArgumentError, "list of texts"),
        ({"dialect": "klingon"}, UnknownNameError, "dialect"),
        ({"seeds": 0}, InvalidArgumentError, "seeds"),
        ({"won": 3}, InvalidArgumentError, "won"),
        ({"actions": ["a", "b"]}, InvalidArgumentError, "3 different names"),
        ({"colour": 1}, UnknownNameError, "colour"),
        ({"max_steps": 0}, InvalidArgumentError, "max_steps"),
    ],
)
def test_mistakes_are_named_when_it_is_built(arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        gym_memory.wrap(Grid(), **arguments)


def test_mistakes_that_show_at_reset() -> None:
    with pytest.raises(InvalidArgumentError, match=r"has page, pixels"):
        ForeignEnv(Grid("page")).reset(seed=0)
    with pytest.raises(InvalidArgumentError, match=r"no text at obs\.page"):
        ForeignEnv(Grid(), text="obs.page").reset(seed=0)
    with pytest.raises(InvalidArgumentError, match=r"no task at info\.aim"):
        ForeignEnv(Grid(), task="info.aim").reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="observation has no keys, it is str"):
        ForeignEnv(Lamp(), text="obs.page").reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="text, got int"):
        ForeignEnv(Grid(), text=lambda obs, info: 3).reset(seed=0)
    with pytest.raises(InvalidArgumentError, match="reset and step"):
        gym_memory.wrap(object())
    with pytest.raises(UnknownNameError, match="reset option"):
        ForeignEnv(Lamp()).reset(options={"level": 3})


def test_failed_reset_leaves_no_episode_to_play() -> None:
    env = ForeignEnv(Lamp())
    env.reset(seed=0)
    env.foreign.reset = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        env.reset(seed=1)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")


@pytest.mark.parametrize("answer", [("A hall.", 0, 0, False, False), ("A hall.", 1.0), "A hall."])
def test_a_step_of_another_form_is_refused(answer: object) -> None:
    class Scored:
        def reset(self) -> str:
            return "A hall."

        def step(self, action: str) -> object:
            return answer

    env = gym_memory.wrap(Scored(), memory="none")
    env.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match=r"expected step to return \(obs, reward, ter"):
        env.step("look")


MODULE = """
import gymnasium as gym
from gym_memory.testing.fake_env import FakeHouse

gym.register("TheirHouse-v0", entry_point=FakeHouse, max_episode_steps=7)

def house(split="train"):
    return FakeHouse(split=split)
"""


def test_environment_is_found_by_id_module_or_function(tmp_path, monkeypatch) -> None:
    (tmp_path / "their_house.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    text = FakeHouse().reset(seed=2)[0]["text"]
    for id in (RAW_ID, "their_house:TheirHouse-v0", "their_house:house"):
        env = make_foreign(id)
        obs, info = env.reset(seed=2)
        assert obs["text"] == text.strip()
        assert info["task_id"] == f"{id}/2"
    assert make_foreign("their_house:TheirHouse-v0").max_steps == 7
    assert make_foreign("their_house:TheirHouse-v0", max_steps=9).max_steps == 9
    other = make_foreign("their_house:house", split="test").reset(seed=0)[0]["text"]
    assert other == FakeHouse(split="test").reset(seed=0)[0]["text"].strip()
    for id, error, message in (
        ("their_house:barn", UnknownNameError, "their_house 'barn': expected one of house"),
        ("their_house:TheirHose-v0", UnknownNameError, "Did you mean 'TheirHouse-v0'"),
        ("no_such_module:X-v0", InvalidArgumentError, "no_such_module"),
        ("Cart-v1", UnknownNameError, "CartPole-v1"),
        ("NoSuchEnv-v0", InvalidArgumentError, "'module:NoSuchEnv-v0'"),
    ):
        with pytest.raises(error, match=message):
            make_foreign(id)
    with pytest.raises(UnknownNameError, match="colour"):
        make_foreign("their_house:house", colour="red")
    with pytest.raises(UnknownNameError, match="Did you mean 'max_steps'"):
        make_foreign("their_house:house", max_stps=3)
    for name in ("entry", "id"):  # the former name
        assert make_foreign(**{name: "their_house:house"}).task_ids[0] == "their_house:house/0"
    made = gym.make("gym_memory/Foreign-v0", entry="their_house:house", memory="none")
    assert made.reset(seed=0)[1]["task_id"] == "their_house:house/0"
    (row,) = play_job(Job("Foreign?entry=their_house:house&max_steps=4", "arigraph", "random", 0))
    assert (row.result.failed, row.result.steps) == ("", 4)
    assert row.result.task_id == "their_house:house/0"


def test_importing_the_package_imports_no_wrapper(python) -> None:
    code = "import sys, gym_memory; print('gym_memory.wrappers.make' in sys.modules)"
    assert python(code).strip() == "False"


def test_a_model_may_read(server) -> None:
    llm = f"openai?model=scripted&base_url={server.base_url}"
    env = gym_memory.wrap(Lamp(), memory=Spec.of("arigraph", {"llm": llm}))
    env.reset(seed=0)
    *_, info = env.step("take lamp")
    assert info["memory_stats"].extraction_calls > 0
    assert info["memory_stats"].fallbacks == 0
    assert Triple("lamp", "is in", "inventory") in env.memory.graph

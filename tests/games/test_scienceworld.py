"""ScienceWorld on the real engine: tasks, splits, answers equal to its server's, crashes.

One Java process serves all tests of the module, for it takes seconds to start.
"""

from __future__ import annotations

import os
import signal
import sys
import zipfile
from pathlib import Path

import pytest

from gym_memory.core.errors import (
    BackendError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.games.scienceworld import catalog, engine
from gym_memory.games.scienceworld import env as adapter
from gym_memory.games.scienceworld.env import ScienceWorld
from gym_memory.run.config import Job
from gym_memory.run.play import Listener, play_job

pytestmark = pytest.mark.slow

try:
    engine.check_installed()
except MissingDependencyError as absent:
    pytest.skip(str(absent), allow_module_level=True)

JAVA = Path(engine.__file__).parent / "java"


@pytest.fixture(scope="module")
def env():
    env = ScienceWorld(split="train", max_steps=1000, valid_actions=False)
    yield env
    env.close()


def start(env, task, variation=0):
    return env.reset(options={"task_id": f"scienceworld/{task}/{variation}"})


class Plain:
    """The engine's own server in the same process, without the shortcuts of FastServer."""

    def __init__(self, played):
        self._jvm = played.gateway.jvm
        self.server = self._jvm.scienceworld.runtime.pythonapi.PythonInterface()
        self._random = getattr(getattr(self._jvm.scala.util, "Random$"), "MODULE$")

    def play(self, task, actions):
        self.server.load(task, 0, "", False)
        seen = [(self.valid(),)]
        for action in actions:
            text = self.server.step(action).strip()
            score = round(100 * self.server.getScore())
            seen.append((text, score, self.server.getCompleted(), self.valid()))
        return seen

    def valid(self):
        before = self._random.self()
        scala = self._jvm.java.lang.Class.forName("scala.util.Random").getDeclaredField("self")
        scala.setAccessible(True)
        scala.set(self._random, self._jvm.java.util.Random(0))
        found = self.server.getValidActionObjectCombinations()
        lines = self._jvm.java.lang.String.join("\n", found)
        scala.set(self._random, before)
        return tuple(lines.split("\n"))


# ---------------------------------------------------------------- the same as the engine


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        ("grow-fruit", ["open door to hallway", "look around", "pick up jug", "examine jug",
                        "move jug to sink", "activate sink", "frobnicate", "help", "wait1",
                        "pour jug into flower pot 1", "look in greenhouse", "inventory", "task"]),
        ("chemistry-mix", ["open cupboard", "look around", "focus on nothing", "0", "wait"]),
    ],
)  # fmt: skip
def test_text_score_and_actions_equal_the_engines(env, task, actions):
    start(env, task)
    seen = [(env.valid_actions(),)]
    for action in actions:
        obs, _, terminated, _, info = env.step(action)
        seen.append((obs["text"], info["score"], terminated, env.valid_actions()))
    assert seen == Plain(env.engine).play(task, actions)


def test_teleporting_names_the_whole_house(env):
    easy = ScienceWorld(task="boil", variation=0, simplification="easy", valid_actions=False)
    easy.reset()
    assert "teleport to workshop" in easy.valid_actions()
    assert "connect" not in {action.split()[0] for action in easy.valid_actions()}
    assert easy.step("teleport to workshop")[0]["text"] == "You teleport to the workshop."
    easy.close()


def test_asking_for_valid_actions_changes_nothing(env):
    """Bees fly at random; the list is drawn at random, too, where seeds have the same name."""

    def play(asking):
        texts = [start(env, "grow-fruit")[0]["text"]]
        for action in ["open bee hive", *["wait1", "look around"] * 6]:
            if asking:
                assert env.engine.valid_actions() == env.valid_actions()
            texts.append(env.step(action)[0]["text"])
        return texts

    assert play(asking=True) == play(asking=False)


def test_the_list_is_kept_while_only_looking(env, monkeypatch):
    start(env, "boil")
    asked = []
    original = engine.ScienceWorldEngine.valid_actions
    monkeypatch.setattr(
        engine.ScienceWorldEngine, "valid_actions", lambda self: asked.append(1) or original(self)
    )
    for action in ("look around", "inventory", "no such thing"):
        env.valid_actions()
        env.step(action)
    env.valid_actions()
    assert len(asked) == 1
    env.step("open door to kitchen")
    env.valid_actions()
    assert len(asked) == 2


def test_an_ambiguous_command_is_answered_by_a_number(env):
    start(env, "grow-fruit")
    for action in env.oracle().walkthrough:
        obs, *_, info = env.step(action)
        if obs["text"].startswith("Ambiguous request"):
            break
    assert info["is_action_valid"]
    numbers = env.valid_actions()
    assert numbers == tuple(str(i) for i in range(len(numbers)))
    assert len(numbers) > 1
    obs, *_ = env.step(numbers[0])
    assert obs["text"].startswith("You move the apple seed to")
    assert len(env.valid_actions()) > len(numbers)


def test_a_wrong_focus_loses_and_counts_zero(env):
    start(env, "boil")
    _, reward, terminated, _, info = env.step("focus on door to kitchen")
    assert terminated
    assert (reward, info["score"], info["normalized_score"]) == (-100, -100, 0)
    assert info["lost"]
    assert not info["success"]


def test_walkthrough_does_not_disturb_the_episode(env):
    """Load another world for the walkthrough during an episode, and come back."""
    engine_solution = env.oracle
    _ = start(env, "melt", 3), env.step("look around"), env.step("open door to kitchen")
    before = env.valid_actions()
    assert len(engine_solution().walkthrough) > 5
    assert env.engine.valid_actions() == before


# ---------------------------------------------------------------- tasks


def test_splits_are_the_engines(env):
    server = Plain(env.engine).server
    assert set(server.getTaskNames()) == set(catalog.TASKS)
    for task in ("boil", "identify-life-stages-2", "mendelian-genetics-known-plant"):
        server.load(task, 0, "", False)
        assert list(server.getVariationsTrain()) == list(catalog.variations(task, "train"))
        assert list(server.getVariationsDev()) == list(catalog.variations(task, "dev"))
        assert list(server.getVariationsTest()) == list(catalog.variations(task, "test"))
    for task, (_, total) in catalog.TASKS.items():
        assert server.getTaskMaxVariations(task) == total


def test_numbers_are_those_of_the_package():
    scienceworld = pytest.importorskip("scienceworld.constants")
    assert {number: name for name, (number, _) in catalog.TASKS.items()} == scienceworld.ID2TASK


def test_clins_selection():
    assert len(catalog.CLIN) == 18
    assert sum(row.n for row in catalog.CLIN) == 164
    assert len(ScienceWorld(split="clin").task_ids) == 164
    means = {
        system: sum(row.published[system] for row in catalog.CLIN) / 18
        for system in ("DRRN", "ReAct", "Reflexion", "CLIN base", "CLIN Gen+Adapt", "CLIN Adapt")
    }
    printed = (16.7, 29.6, 39.4, 48.6, 69.5, 62.2)
    assert [round(mean, 1) for mean in means.values()] == pytest.approx(printed, abs=0.11)
    assert not {row.task for row in catalog.CLIN} & catalog.ELECTRICAL
    for row in catalog.CLIN:
        tests = catalog.variations(row.task, "test")
        assert row.n == min(10, len(tests))


def test_tasks_have_several_names():
    for name in ("find-plant", "4-3", "Pick&Place1", "pickplace1"):
        env = ScienceWorld(name, "clin")
        assert env.task_ids[0] == "scienceworld/find-plant/225"
        assert len(env.task_ids) == 10
    assert ScienceWorld().task_ids[:2] == ("scienceworld/boil/21", "scienceworld/melt/21")
    assert ScienceWorld("boil", variation=15).split == "dev"


def test_task_in_the_worlds_of_another_begins_in_the_same_room(env):
    melting = "measure-melting-point-known-substance"
    other = ScienceWorld("use-thermometer", "clin", world_of=melting)
    assert other.task_ids[0] == "scienceworld/use-thermometer/327"
    first = env.engine.load("use-thermometer", 327, "")
    assert env.engine.load(melting, 327, "") == first
    assert env.engine.load(melting, 405, "") != first


def test_task_with_fewer_variations_takes_its_own_in_turn():
    other = ScienceWorld("identify-life-stages-2", "clin", world_of="identify-life-stages-1")
    numbers = [task_id.rpartition("/")[2] for task_id in other.task_ids]
    assert numbers == ["9", "7", "8", "9", "6"]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"world_of": "boil"}, InvalidArgumentError, "world_of together with a task"),
        ({"task": "boil", "world_of": "frieze"}, UnknownNameError, "Did you mean 'freeze'"),
        ({"task": "boyl"}, UnknownNameError, "Did you mean 'boil'"),
        ({"task": "Temp3"}, UnknownNameError, "Did you mean 'Temp"),
        ({"split": "tset"}, UnknownNameError, "Did you mean 'test'"),
        ({"simplification": "opendoors"}, UnknownNameError, "Did you mean 'openDoors'"),
        ({"task": "melt", "split": "clin"}, InvalidArgumentError, "the paper left it out"),
        ({"task": "melt", "variation": 30}, InvalidArgumentError, r"0\.\.29, got 30"),
        ({"task": "melt", "variation": "1"}, InvalidArgumentError, "variation as an int"),
        ({"variation": 3}, InvalidArgumentError, "variation together with a task"),
        ({"task": "power-component", "simplification": "noElectricalAction"},
         InvalidArgumentError, "takes away what power-component needs"),
        ({"inventory": 1}, InvalidArgumentError, "inventory as True or False"),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments, error, says):
    with pytest.raises(error, match=says):
        ScienceWorld(**arguments)


# ---------------------------------------------------------------- processes


def test_a_killed_engine_costs_one_episode():
    env = ScienceWorld(task="boil", valid_actions=False)
    text = env.reset(seed=0)[0]["text"]
    first = env.engine.process_id
    os.kill(first, signal.SIGKILL)
    with pytest.raises(BackendError, match=r"ScienceWorld engine \(Java\) broke off"):
        env.step("look around")
    assert env.reset(seed=0)[0]["text"] == text
    assert env.engine.process_id != first
    env.close()


def test_killed_engine_fails_its_episode_and_run_goes_on(monkeypatch):
    started = []

    class Killer(Listener):
        def step(self, trial, t, info):
            if t == 2:
                os.kill(started[-1].process_id, signal.SIGKILL)

    def noted():
        started.append(engine.ScienceWorldEngine())
        return started[-1]

    monkeypatch.setattr(adapter, "acquire", noted)
    job = Job("ScienceWorld?task=boil&max_steps=4&valid_actions=false", "none", "random", 0)
    rows = [*play_job(job, Killer()), *play_job(job)]
    assert [bool(row.result.failed) for row in rows] == [True, False]
    assert "broke off" in rows[0].result.failed
    assert rows[0].result.score == 0
    assert rows[1].result.steps == 4
    assert len(started) == 2


def test_closed_environment_passes_its_engine_on(env):
    start(env, "boil")
    other = ScienceWorld(task="melt", valid_actions=False)
    other.reset()
    process = other.engine.process_id
    assert process != env.engine.process_id
    other.close()
    other.close()
    third = ScienceWorld(task="freeze", valid_actions=False)
    third.reset()
    assert third.engine.process_id == process
    third.close()


_FORKED = """
import gc, os, sys
from gym_memory.games.scienceworld.env import ScienceWorld
env = ScienceWorld(task="boil", valid_actions=False)
text = env.reset(seed=0)[0]["text"]
mine = env.engine.process_id
other = ScienceWorld(task="melt", valid_actions=False)
other.reset()
waiting = other.engine.process_id
other.close()
child = os.fork()
if child == 0:
    same = env.reset(seed=0)[0]["text"] == text and env.engine.process_id not in (mine, waiting)
    env.close()
    gc.collect()  # what the parent holds in Java stays there
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
assert env.step("look around")[0]["text"] == text and env.engine.process_id == mine
other.reset()
assert other.engine.process_id == waiting
import logging
assert not logging.getLogger().handlers
"""


def test_fork_gets_its_own_engine_and_leaves_the_log(python):
    python(_FORKED)


def test_missing_java_gives_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="java is not installed") as error:
        ScienceWorld()
    assert "\n" not in str(error.value)


def test_failing_java_is_reported(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BackendError, match="Java does not start"):
        engine.ScienceWorldEngine()


def test_the_jar_was_built_from_the_source_beside_it():
    with zipfile.ZipFile(JAVA / "fast.jar") as jar:
        assert jar.read("gymmemory/FastServer.java") == (JAVA / "FastServer.java").read_bytes()


def test_only_its_own_process_may_command_java() -> None:
    """Another user of the machine cannot run code through the port."""
    gateway = pytest.importorskip("py4j.java_gateway")
    running = engine.ScienceWorldEngine()
    try:
        parameters = gateway.GatewayParameters(port=running.port)
        stranger = gateway.JavaGateway(gateway_parameters=parameters)
        with pytest.raises(Exception, match="Authentication error"):
            stranger.jvm.java.lang.System.getProperty("user.name")
        assert running.load("boil", 0, "")
    finally:
        running.kill()


def test_a_stopped_java_ends_the_step(monkeypatch) -> None:
    running = engine.ScienceWorldEngine()
    monkeypatch.setattr("gym_memory.games.scienceworld.env.acquire", lambda: running)
    env = ScienceWorld(task="boil")
    env.reset(seed=0)
    running.answer_seconds = 2.0  # now, since a busy machine starts it slowly
    os.kill(running.process_id, signal.SIGSTOP)
    with pytest.raises(BackendError, match="broke off: no answer within 2 s"):
        env.step("look around")
    assert not running.usable
    env.close()

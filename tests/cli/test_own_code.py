"""A policy, memory or game in a file of the user's plays by `./file.py:name`, and only so."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gym_memory.baselines import make_policy
from gym_memory.cli.new import new
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError, UntrustedError
from gym_memory.core.frames import Frame, users_frame
from gym_memory.core.names import import_plugin
from gym_memory.core.trust import check_bare, check_game
from gym_memory.games.foreign import make_foreign
from gym_memory.memory import MEMORIES, make_memory
from gym_memory.run.callbacks import make_callback
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job

ROOT = Path(__file__).parents[2]
AGENT = '''
def act(obs, info, last=False):
    return obs["valid_actions"][-1 if last else 0]


class Agent:
    """Needs no base class."""

    def __init__(self, skip=1):
        self.skip, self.acted = skip, 0

    def reset(self, info, seed=None):
        self.at = seed or 0

    def act(self, obs, info):
        self.at, self.acted = self.at + self.skip, self.acted + 1
        return obs["valid_actions"][self.at % len(obs["valid_actions"])]

    def counters(self):
        return {"acted": self.acted}


number = 3
'''

LAMP = """
class Lamp:
    def reset(self):
        return "A dark room. There is a lamp here."

    def step(self, action):
        return f"{action}: nothing happens.", 0.0, False, {}


make = Lamp
"""


def run(words, folder, status=0):
    return ran([sys.executable, "-m", "gym_memory", *words], folder, status)


def ran(command, folder, status=0):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == status, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


@pytest.mark.slow
def test_functions_and_classes_play_in_workers_and_resume(folder):
    policies = [
        "./agent.py:act",
        "./agent.py:act?last=true",
        "agent:Agent",
        "agent.py:Agent?skip=2",
    ]
    words = ["compare", "-e", "Fetch?level=easy", "-m", "none", "--seeds", "0:2", "-w", "2"]
    words += [word for policy in policies for word in ("-p", policy)] + ["--out", "r", "--json"]
    first = run(words, folder)
    rows = (folder / "r" / "episodes.jsonl").read_text()
    assert {json.loads(row)["policy"] for row in rows.splitlines()} == set(policies)
    assert not any(json.loads(row)["failed"] for row in rows.splitlines())
    assert all(json.loads(r)["counters"]["acted"] for r in rows.splitlines() if "Agent" in r)
    plugins = json.loads((folder / "r" / "config.json").read_text())["plugins"]
    assert re.fullmatch(r"\./agent\.py@[0-9a-f]{12}", plugins[0])
    assert run(words, folder) == first
    assert (folder / "r" / "episodes.jsonl").read_text() == rows
    (folder / "agent.py").write_text(AGENT + "# changed\n")
    assert "use another --out" in run(words, folder, 2)


@pytest.mark.slow
def test_policy_of_the_page_has_the_stated_score(tmp_path):
    page = (ROOT / "docs" / "own-policy.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    assert code.partition("def ")[2] in (ROOT / "examples" / "own_policy.py").read_text()
    (tmp_path / "agent.py").write_text(code)
    command = shlex.split(re.search(r"gym-memory (compare .*)", page)[1])
    shown = run([*command, "--json", "--workers", "1"], tmp_path)
    rows = [json.loads(line) for line in shown.splitlines() if line.startswith("{")]
    none, arigraph = (f"{row['score']:.2f}" for row in rows)
    assert f"{none} without memory and {arigraph} with `arigraph`" in page
    assert float(none) < float(arigraph)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["policy", "memory", "game"])
def test_template_of_new_runs_unchanged(kind, tmp_path):
    written = run(["new", kind, "my-own"], tmp_path)
    (line,) = (line for line in written.splitlines() if line.startswith("  gym-memory compare"))
    command = shlex.split(line.strip().removeprefix("gym-memory "))
    rows = [
        json.loads(line) for line in run([*command, "--json"], tmp_path).splitlines() if "{" in line
    ]
    assert len(rows) == 2
    assert rows[1]["score"] > rows[0]["score"]
    assert not any(row["n_failed"] for row in rows)
    assert "choose another name" in run(["new", kind, "MyOwn"], tmp_path, 2)


@pytest.mark.parametrize("name", ["Random", "json", "numpy", "Gym-Memory"])
def test_new_file_hides_no_module(name, tmp_path):
    with pytest.raises(InvalidArgumentError, match="a name that no module has"):
        new("policy", name, tmp_path)
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_memory_of_a_file_takes_the_exam(tmp_path):
    run(["new", "memory", "Mine"], tmp_path)
    words = ["exam", "-e", "Fetch?level=easy", "-m", "./mine.py:Mine", "-p", "planner", "--json"]
    rows = run([*words, "--seeds", "0:1", "--lengths", "5", "--budgets", "500"], tmp_path)
    assert "./mine.py:Mine" in rows


FAULTS = {
    "./agent.py:nobody": "unknown policy of ./agent.py 'nobody': expected one of Agent, act",
    "./agent.py:number": "expected one of Agent, act",
    "./agent.py:Agent?skipp=2": "Did you mean 'skip'",
    "./agent.py:act?las=true": "expected one of last. Did you mean 'last'",
    "./absent.py:act": "cannot import './absent.py'",
    "./broken.py:act": "cannot import './broken.py': SyntaxError",
    "./dying.py:act": "ZeroDivisionError: division by zero at dying.py:1, in <module>: 1 / 0",
    "./agent.py@0123456789ab:act": "as it was when the run began",
    "./narrow.py:Narrow": "got act(obs): too many positional arguments; act is at narrow.py:2",
}
EACH = """
import contextlib, io, json, sys
from gym_memory.cli import main
for policy in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(["run", "-e", "Fetch", "-m", "none", "-p", policy, "-w", "1"])
        except SystemExit as end:
            status = end.code
    print(json.dumps([policy, [status, said.getvalue()]]))
"""


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    """Return exit status and output by policy; one process, since each imports the library."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "agent.py").write_text(AGENT)
    (folder / "broken.py").write_text("def act(:")
    (folder / "dying.py").write_text("1 / 0")
    (folder / "narrow.py").write_text("class Narrow:\n    def act(self, obs): return 'look'\n")
    lines = ran([sys.executable, "-c", EACH, *FAULTS], folder).splitlines()
    return dict(map(json.loads, lines))


@pytest.mark.slow
@pytest.mark.parametrize("policy", FAULTS)
def test_faults_are_one_line(policy, faults):
    status, said = faults[policy]
    assert status == 2
    assert FAULTS[policy] in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.slow
def test_memory_or_game_of_wrong_kind_gives_one_line(folder):
    words = ["run", "-e", "Fetch", "-p", "random", "-w", "1", "-m", "./agent.py:Agent"]
    said = run(words, folder, 2)
    assert "expected './agent.py:Agent' as a subclass of gym_memory.memory.Memory" in said
    words = ["run", "-e", "./agent.py:Agent", "-p", "random", "-w", "1", "-m", "none"]
    said = run(words, folder, 2)
    assert "expected an environment" in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("place", ["lamp_room", "./lamp_room.py"])
def test_foreign_environment_in_the_current_folder_plays(place, tmp_path):
    (tmp_path / "lamp_room.py").write_text(LAMP)
    words = ["-e", f"Foreign?entry={place}:make&max_steps=4", "-m", "none", "-p", "random"]
    words += ["--seeds", "0", "-w", "1", "--out", "r"]
    # -P as with the installed command, whose path has no current folder.
    ran([sys.executable, "-P", "-m", "gym_memory", "run", *words], tmp_path)
    row = json.loads((tmp_path / "r" / "episodes.jsonl").read_text())
    assert (row["failed"], row["steps"]) == ("", 4)


def test_names_from_folders_and_pages_reach_no_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "agent.py").write_text("raise SystemExit('imported')")
    with pytest.raises(UnknownNameError):
        make_policy("./agent.py:act")
    with pytest.raises(UnknownNameError):
        make_memory("os:getcwd")
    with pytest.raises(InvalidArgumentError, match="import the file first"):
        make_foreign("./agent.py:act")
    with pytest.raises(UntrustedError):
        check_bare(MEMORIES, "./agent.py:Agent", "a memory", "here")
    with pytest.raises(UnknownNameError):
        check_game("./agent.py:Game")
    config = RunConfig(("Fetch",), ("none",), ("./agent.py:act",), (0,), plugins=("./agent.py@1",))
    assert RunConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_name_of_an_own_file_plays_once_it_is_imported(tmp_path):
    (tmp_path / "player.py").write_text(AGENT)
    place = str(tmp_path / "player.py")
    with pytest.raises(UnknownNameError, match=r"In Python, call .*import_plugin\(.*\) first"):
        make_policy(f"{place}:act")
    import_plugin(place)
    assert make_policy(f"{place}:act").act({"valid_actions": ["look"]}, {}) == "look"


async def late(obs, info):
    return "look"


@pytest.mark.parametrize("act", [lambda obs, info: ("look", "a thought"), late])
@pytest.mark.filterwarnings("ignore:coroutine")
def test_answer_that_is_no_action_shows_its_line(act):
    said = r"expected act to return an action, got .*; act is at .*test_own_code.py:\d+"
    with pytest.raises(InvalidArgumentError, match=said):
        make_policy(act).act({}, {})


@pytest.mark.parametrize("make", [make_memory, make_policy, make_callback, make_foreign])
def test_missing_parameter_is_named(make, tmp_path):
    path = tmp_path / "needy.py"
    path.write_text("class Needy:\n    def __init__(self, rooms, depth=1): ...\n")
    import_plugin(str(path))
    with pytest.raises(InvalidArgumentError, match=r":Needy' needs rooms: .*:Needy\?rooms=\.\.\."):
        make(f"{path}:Needy")


def test_object_that_cannot_act_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"act\(obs, info\) -> str"):
        make_policy(3)


BROKEN = """
from gym_memory.core.records import Recall
from gym_memory.memory import Memory


class Crash(Memory):
    name, lifetimes = "Crash", {}

    def begin(self, task, seed):
        self.rooms = {}

    def observe(self, step):
        self.rooms["kitchen"] += 1

    def recall(self, cue, budget):
        return Recall()

    def state(self):
        return {}

    def load_state(self, state):
        pass


class Text(Crash):
    def observe(self, step):
        pass

    def recall(self, cue, budget):
        return "a text"


class Flat(Text):
    def recall(self, cue, budget):
        return Recall("", triples=["key in hall"])


def shout(obs, info):
    raise RuntimeError("no idea")


def leave(obs, info):
    raise SystemExit("no key")


def forget(obs, info):
    obs["valid_actions"][0]


class Room:
    def reset(self):
        return "A bare room."

    def step(self, action):
        return 5, 0.0, False, {}


def furnish(**settings):
    return Room(**settings)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "shown"),
    [
        (["-m", "./broken.py:Crash"], 'broken.py:13, in observe: self.rooms["kitchen"] += 1'),
        (["-m", "./broken.py:Text"], "expected Text.recall to return a Recall"),
        (["-m", "./broken.py:Flat"], "expected Flat.recall to return a Recall"),
        (["-p", "./broken.py:shout"], 'broken.py:39, in shout: raise RuntimeError("no idea")'),
        (["-p", "./broken.py:leave"], 'broken.py:43, in leave: raise SystemExit("no key")'),
        (["-p", "./broken.py:forget"], "return an action, got None; act is at broken.py:46"),
        (
            ["-e", "Foreign?entry=./broken.py:Room"],
            "got int: say where the text is, by text='obs.KEY', text='info.KEY' or a function of "
            "(obs, info); step is at broken.py:54",
        ),
    ],
)
def test_fault_of_own_code_shows_its_line(tmp_path, own, shown):
    (tmp_path / "broken.py").write_text(BROKEN)
    words = ["compare", "-e", "Fetch?level=easy", "-m", "none", *own, "--seeds", "0:2", "-w", "1"]
    text = " ".join(run([*words, "--out", "r"], tmp_path, status=1).split())
    assert shown in text
    assert "p –" not in text
    assert "p 1.000" not in text
    assert "Traceback" in (tmp_path / "r" / "logs" / "worker-0.log").read_text()
    again = run([*words, "--out", "r", "--debug"], tmp_path, status=1)
    assert "Traceback (most recent call last)" in again


STOPS = """
import os, signal
from gym_memory.memory.arigraph import AriGraph


class Stops(AriGraph):
    def observe(self, step):
        super().observe(step)
        if step.t == 3:
            os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["exam", "quality", "credit"])
def test_interrupted_measurement_says_that_nothing_is_kept(tmp_path, command):
    (tmp_path / "stops.py").write_text(STOPS)
    words = ["-e", "Fetch?level=easy", "-m", "./stops.py:Stops", "-p", "random", "--seeds", "0"]
    said = run([command, *words, "--out", "r"], tmp_path, status=130)
    assert said.strip() == "Interrupted. Nothing was kept; run the command again to start over."
    assert not [*tmp_path.glob("r/*")]


@pytest.mark.slow
def test_fault_of_a_factory_shows_its_line(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    env = "Foreign?entry=./broken.py:furnish&chairs=2"
    said = run(["run", "-e", env, "-m", "none", "-p", "random", "-w", "1"], tmp_path, status=2)
    assert "broken.py:59, in furnish: return Room(**settings)" in said


@pytest.mark.parametrize("fault", ["'x' * 9000", "chr(10).join(map(str, range(5000)))"])
def test_long_message_hides_no_line(tmp_path, monkeypatch, fault):
    (tmp_path / "loud.py").write_text(f"def act(obs, info):\n    raise ValueError({fault})\n")
    monkeypatch.chdir(tmp_path)
    import_plugin("./loud.py")
    (row,) = play_job(Job("Fetch?max_steps=2", "none", "./loud.py:act", 0))
    assert str(users_frame(row.result.detail)).startswith("loud.py:2, in act: raise ValueError(")


def test_frame_is_the_last_one_of_the_user():
    traceback = (
        'Traceback (most recent call last):\n  File "/home/a/mine.py", line 3, in recall\n'
        "    return search(cue)\n"
        f'  File "{ROOT}/gym_memory/memory/reading.py", line 9, in search\n    raise KeyError\n'
    )
    assert users_frame(traceback) == Frame("/home/a/mine.py", 3, "recall", "return search(cue)")
    assert users_frame(traceback.replace("/home/a/mine.py", json.__file__)) is None
    compiled = '  File "numpy/random/_generator.pyx", line 674, in integers\n'
    assert users_frame(traceback + compiled) == users_frame(traceback)

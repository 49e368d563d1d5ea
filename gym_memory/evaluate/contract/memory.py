"""Check a memory: budget, state, repeated answers, snapshots, processes, hostile text, time."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import subprocess
import time
from functools import cached_property

import gymnasium as gym

from gym_memory.core.names import import_plugin, sources
from gym_memory.core.process import python_command
from gym_memory.core.records import Cue, Outcome, Recall, Step, Task
from gym_memory.evaluate.contract.checks import (
    HOSTILE_TEXTS,
    Check,
    ContractFault,
    expect,
    first_difference,
)
from gym_memory.memory.base import Memory, count_tokens, make_memory, unbounded_recall
from gym_memory.wrappers.make import make_env

__all__ = ["memory_checks"]

_BUDGETS = (0, 50, 200, 1000)
_STEPS = 40
_SLOW_MS = 200.0
"""Mean milliseconds of a step above which a run of games takes hours."""


def memory_checks(spec: str) -> dict[str, tuple[str, Check]]:
    """Return the checks of a memory by name, each with its sentence of the contract."""
    trial = MemoryTrial(spec)
    return {
        "plays": ("begin, observe and recall work in every episode, and recall returns a Recall",
                  trial.plays),
        "budget": ("recall stays within its budget, four characters a token", trial.budget),
        "same twice": ("recall answers the same when called twice", trial.same_twice),
        "state is JSON": ("state returns all as JSON values", trial.json_state),
        "state is whole": ("load_state restores all that recall and observe need",
                           trial.whole_state),
        "snapshot": ("restore returns to a snapshot, any number of times", trial.snapshot),
        "fork": ("a fork is independent", trial.fork),
        "pickle": ("the spec of an environment with it is pickled and makes it again",
                   trial.pickled),
        "same in any process": ("the same seed and steps make the same memory in every process",
                                trial.processes),
        "hostile text": ("any text of a game is remembered or left out, never an error",
                         trial.hostile),
        "time": (f"a step takes less than {_SLOW_MS:g} ms", trial.speed),
    }  # fmt: skip


def print_transcript(spec: str, *plugins: str) -> None:
    """Print all recalls of the first episode of a memory, in a process of its own."""
    for plugin in plugins:
        import_plugin(plugin)
    print(MemoryTrial(spec).transcript, end="")


class MemoryTrial:
    """A memory beside the recorded steps of real episodes."""

    def __init__(self, spec: str):
        self.spec = spec

    @cached_property
    def episodes(self) -> list[tuple[Task, list[Step], Outcome]]:
        """Return two episodes of random play."""
        found = []
        env = make_env("Fetch", memory="none", level="hard", max_steps=_STEPS)
        for seed in (0, 1):
            rng = random.Random(seed)
            obs, info = env.reset(seed=seed)
            task = Task(info["task_id"], obs["task"], "textworld")
            steps: list[Step] = []
            action, reward, done = "", 0.0, False
            while True:
                steps.append(
                    Step(
                        t=info["moves"], text=obs["text"], action=action, reward=reward,
                        inventory=obs["inventory"], valid_actions=obs["valid_actions"], done=done,
                    )
                )  # fmt: skip
                if done:
                    break
                action = rng.choice(obs["valid_actions"])
                obs, gained, terminated, truncated, info = env.step(action)
                reward = float(gained)
                done = terminated or truncated
            found.append((task, steps, Outcome.from_info(info)))
        return found

    def made(self) -> Memory:
        """Return a new memory."""
        return make_memory(self.spec)

    def after(self, steps: int, episode: int = 0) -> Memory:
        """Return a new memory that saw the first steps of an episode."""
        memory = self.made()
        task, played, _ = self.episodes[episode]
        memory.begin(task, episode)
        for step in played[:steps]:
            memory.observe(memory.admit(step, task.goal))
        return memory

    def cue(self, t: int) -> Cue:
        """Return the cue after a step of the first episode."""
        task, steps, _ = self.episodes[0]
        step = steps[t]
        return Cue(step.text, task.goal, step.inventory, step.valid_actions, f"find {task.goal}")

    def answer(self, memory: Memory, t: int, budget: int = 1000) -> Recall:
        """Return a recall after a step of the first episode."""
        return memory.recall(self.cue(t), budget)

    def plays(self) -> str:
        """Play two episodes, one after the other."""
        memory, shown = self.made(), 0
        for seed, (task, steps, outcome) in enumerate(self.episodes):
            memory.begin(task, seed)
            for step in steps:
                memory.observe(memory.admit(step, task.goal))
                shown += count_tokens(self.answer(memory, min(step.t, _STEPS)).text)
            memory.end(outcome)
        steps_seen = sum(len(steps) for _, steps, _ in self.episodes)
        return f"{steps_seen} steps, {shown / steps_seen:.0f} tokens a recall"

    def budget(self) -> str:
        """Recall under several budgets."""
        memory = self.after(_STEPS)
        if not memory.keeps_budget:
            return "keeps_budget is False: it may recall more"
        for budget in _BUDGETS:
            self.answer(memory, _STEPS - 1, budget)
            tokens = count_tokens(unbounded_recall(memory, self.cue(_STEPS - 1), budget).text)
            expect(tokens <= budget, f"{tokens} tokens under a budget of {budget}")
        return f"budgets of {', '.join(map(str, _BUDGETS))} tokens"

    def same_twice(self) -> str:
        """Recall twice, and check that the state stays."""
        memory = self.after(_STEPS)
        before = json.dumps(memory.state(), sort_keys=True, default=str)
        one, two = self.answer(memory, _STEPS - 1), self.answer(memory, _STEPS - 1)
        expect(one == two, f"two recalls differ: {first_difference(one, two)}")
        after = json.dumps(memory.state(), sort_keys=True, default=str)
        expect(before == after, f"recall changed the state: {first_difference(before, after)}")
        return "equal, and the state stays"

    def json_state(self) -> str:
        """Write the state as JSON and read it again."""
        state = self.after(_STEPS).state()
        try:
            text = json.dumps(state)
        except (TypeError, ValueError) as error:
            raise ContractFault(f"{error}: keep lists, dicts, numbers and text") from None
        expect(
            json.loads(text) == state,
            f"the state is another after JSON: {first_difference(state, json.loads(text))}; "
            "tuples become lists, and keys become text",
        )
        return f"{len(text):,} characters"

    def whole_state(self) -> str:
        """Load the state into a new memory and continue with both."""
        memory, task = self.after(_STEPS // 2), self.episodes[0][0]
        twin = self.made()
        twin.begin(task, 0)
        twin.load_state(json.loads(json.dumps(memory.state())))
        for t in range(_STEPS // 2, _STEPS):
            one, two = self.answer(memory, t - 1), self.answer(twin, t - 1)
            expect(
                one == two,
                f"after load_state it recalls something else at step {t - 1}: "
                f"{first_difference(one.text, two.text)}; part of it is outside of state()",
            )
            for each in (memory, twin):
                each.observe(each.admit(self.episodes[0][1][t], task.goal))
        return f"equal recalls over {_STEPS - _STEPS // 2} further steps"

    def snapshot(self) -> str:
        """Go back to a snapshot twice."""
        memory, task = self.after(_STEPS // 2), self.episodes[0][0]
        kept, before = memory.snapshot(), self.answer(memory, _STEPS // 2)
        for _ in range(2):
            for step in self.episodes[0][1][_STEPS // 2 :]:
                memory.observe(memory.admit(step, task.goal))
            memory.restore(kept)
            again = self.answer(memory, _STEPS // 2)
            expect(
                again == before, f"another recall after restore: {first_difference(before, again)}"
            )
        return "restored twice"

    def fork(self) -> str:
        """Let a fork learn, and check that the original stays."""
        memory, task = self.after(_STEPS // 2), self.episodes[0][0]
        before = copy.deepcopy(memory.state())
        twin = memory.fork()
        for step in self.episodes[0][1][_STEPS // 2 :]:
            twin.observe(twin.admit(step, task.goal))
        expect(
            memory.state() == before,
            f"the fork changed the original: {first_difference(before, memory.state())}",
        )
        return "the original stays"

    def pickled(self) -> str:
        """Make the environment again from its pickled spec."""
        env = gym.make("gym_memory/Fetch-v0", level="easy", memory=self.spec)
        again = gym.make(pickle.loads(pickle.dumps(env.spec)))
        one, two = (each.reset(seed=0)[0]["memory"] for each in (env, again))
        expect(one == two, f"another recall: {first_difference(one, two)}")
        return "the same environment"

    @property
    def transcript(self) -> str:
        """Return all recalls of the first episode, as text."""
        memory, shown = self.after(0), []
        task, steps, _ = self.episodes[0]
        for step in steps:
            memory.observe(memory.admit(step, task.goal))
            shown.append(repr(self.answer(memory, min(step.t, _STEPS - 1))))
        return "\n".join(shown)

    def processes(self) -> str:
        """Play the same steps in two other processes, whose sets have other orders."""
        said = []
        plugins = [import_plugin(source) for source in sources([self.spec])]
        for hash_seed in ("1", "2"):
            done = subprocess.run(
                python_command(f"{__name__}:print_transcript", self.spec, *plugins),
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
                capture_output=True, text=True, encoding="utf-8", timeout=120,
            )  # fmt: skip
            last = (done.stderr.strip().splitlines() or [""])[-1]
            expect(done.returncode == 0, f"it fails in another process: {last}")
            said.append(done.stdout)
        expect(
            said[0] == said[1],
            f"two processes recall {first_difference(*said)}: sort sets, and draw from the seed",
        )
        return "equal in two processes"

    def hostile(self) -> str:
        """Observe texts that none of our games sends."""
        task = self.episodes[0][0]
        for text in HOSTILE_TEXTS:
            memory = self.made()
            memory.begin(task, None)
            for t, action in enumerate(("", text[:200])):
                step = Step(t=t, text=text, action=action, inventory=text, valid_actions=(text,))
                memory.observe(memory.admit(step, task.goal))
                cue = Cue(text, text, text, (text,), text[:200])
                memory.recall(cue, 200)
            memory.end(Outcome())
        return f"{len(HOSTILE_TEXTS)} texts"

    def speed(self) -> str:
        """Measure the time of observing and recalling."""
        memory, (task, steps, _) = self.made(), self.episodes[0]
        memory.begin(task, 0)
        started = time.perf_counter()
        for step in steps:
            memory.observe(memory.admit(step, task.goal))
            memory.recall(self.cue(min(step.t, _STEPS - 1)), 1000)
        took = (time.perf_counter() - started) * 1e3 / len(steps)
        expect(took < _SLOW_MS, f"{took:.0f} ms a step: a run of 1,000 games would take days")
        return f"{took:.2f} ms a step"

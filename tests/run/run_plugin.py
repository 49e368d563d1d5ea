"""Plugin of the tests of runs: the fake house and faulty policies, in every worker."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.scripted import Random, Walkthrough
from gym_memory.core.errors import BackendError
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.testing.fake_env import FakeHouse, register_fake

LOCK = multiprocessing.get_context("spawn").Lock()
"""As some libraries make one when they are imported: the system must get it back."""


class Sleepy(Random):
    """Plays at random and takes its time: ``delay`` seconds a step, seeded jitter included.

    Where the variable ``SLEEPY_GATE`` names a file, seeds from the number in it on have to wait,
    so that a run cannot be over before it is interrupted.
    """

    def __init__(self, delay: float = 0.002):
        super().__init__()
        self.delay = delay
        print(f"sleepy {os.getpid()}", flush=True)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        super().reset(info, seed)
        gate, announced = os.environ.get("SLEEPY_GATE"), False
        while gate and seed is not None and seed >= int(Path(gate).read_text()):
            if not announced:
                print(f"seed {seed} waits at the gate", flush=True)
                announced = True
            time.sleep(0.01)

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        time.sleep(self.delay * (1 + self._rng.random()))
        return super().act(obs, info)


class Bad(Walkthrough):
    """A policy that solves the game, but fails at step ``at`` of a trial, under one seed."""

    def __init__(self, how: str = "raise", at: int = 2, seed: int = 1, trial: int = 0):
        super().__init__()
        self.how, self.when = how, (seed, trial, at)
        self._seeds: list[int | None] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        super().reset(info, seed)
        self._seeds.append(seed)

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        if (self._seeds[0], len(self._seeds) - 1, info["moves"]) == self.when:
            if self.how == "exit":
                os._exit(7)
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "abort":
                os.abort()
            if self.how == "spin":
                re.fullmatch("(a|aa)+", "a" * 100 + "b")  # no end, and no other thread may run
            if self.how == "hang":
                time.sleep(3600)
            if self.how == "backend":
                raise BackendError("the engine is gone")
            if self.how == "daemon":
                child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
                print(f"sleepy {child.pid}", flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "memory":
                self.held = [bytearray(1 << 26) for _ in range(1 << 10)]
            if self.how == "noise":
                for _ in range(400):
                    os.write(1, b"noise " * 8000)
                    if os.fstat(1).st_size > 9 << 20:  # until the parent has cut it to 1 MB
                        while not 1 << 20 < os.fstat(1).st_size < 9 << 20:
                            time.sleep(0.01)
                print("the end", flush=True)
                os._exit(5)
            if self.how == "surrogate":
                raise ValueError("bad \ud800 text")
            raise ZeroDivisionError("a mistake\nover two lines")
        return super().act(obs, info)


class Greedy(Walkthrough):
    """Solves the game from its second trial on; counts its trials, its money and its threads."""

    def __init__(self) -> None:
        super().__init__()
        self.trials = 0

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        super().reset(info, seed)
        self.trials += 1
        self.focus = f"trial {self.trials}"

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        return "inventory" if self.trials == 1 else super().act(obs, info)

    def counters(self) -> dict[str, float]:
        threads = float(os.environ.get("OMP_NUM_THREADS", 0)) * self.trials
        return {"trials": self.trials, "cost_usd": 0.25 * self.trials, "threads": threads}


class Slow(Walkthrough):
    """Solves the game and takes half a second a step."""

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        time.sleep(0.5)
        return super().act(obs, info)


class Stuck(FakeHouse):
    """A house whose engine hangs on seed 1, ``where``: in a reset or a step."""

    def __init__(self, where: str = "step", **kwargs: Any):
        super().__init__(**kwargs)
        self.where, self.seed = where, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.seed = seed or 0
        if (self.where, seed) == ("reset", 1):
            time.sleep(3600)
        return super().reset(seed=seed, options=options)

    def step(self, action: str) -> Any:
        if (self.where, self.seed) == ("step", 1):
            time.sleep(3600)
        return super().step(action)


class Homeless(FakeHouse):
    """A house whose engine is not installed."""

    def versions(self) -> dict[str, str]:
        return {"no-such-engine": version("no-such-engine")}


register_fake()
ENVIRONMENTS.register("Homeless", Homeless)
ENVIRONMENTS.register("Stuck", Stuck)
for _name, _policy in {"sleepy": Sleepy, "bad": Bad, "greedy": Greedy, "slow": Slow}.items():
    POLICIES.register(_name, _policy)

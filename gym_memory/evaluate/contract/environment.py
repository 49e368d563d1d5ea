"""Check an environment: Gymnasium's contract, seeds, snapshots, valid actions, hostile commands."""

from __future__ import annotations

import copy
import pickle
import random
import time
import warnings
from typing import Any

import gymnasium as gym
from gymnasium.utils.env_checker import check_env

from gym_memory.core.names import Spec
from gym_memory.draw.escape import visible
from gym_memory.evaluate.contract.checks import HOSTILE_TEXTS, Check, expect, first_difference
from gym_memory.wrappers.make import make_env

__all__ = ["environment_checks"]

_STEPS = 30
_SLOW_MS = 1000.0
_COMMANDS = ("look then look", "take\nkey", "x" * 10_000, *HOSTILE_TEXTS[3:])


def environment_checks(spec: str) -> dict[str, tuple[str, Check]]:
    """Return the checks of an environment by name, each with its sentence of the contract."""
    trial = _EnvironmentTrial(spec)
    return {
        "plays": ("reset and step return what Gymnasium says, in the spaces", trial.plays),
        "check_env": ("Gymnasium's own check passes without a warning", trial.gymnasium),
        "same twice": ("reset(seed=s) gives the same game and the same text every time",
                       trial.same_twice),
        "valid actions": ("what is listed as valid is accepted", trial.valid),
        "snapshot": ("restore returns to a snapshot: nothing is kept outside of it",
                     trial.snapshot),
        "pickle": ("the spec is pickled and makes the environment again", trial.pickled),
        "hostile text": ("a text that is no command costs a step and is counted", trial.hostile),
        "ends": ("max_steps ends an episode", trial.ends),
        "time": (f"a step takes less than {_SLOW_MS / 1000:g} s", trial.speed),
    }  # fmt: skip


class _EnvironmentTrial:
    """An environment in real play."""

    def __init__(self, spec: str):
        self.spec = spec

    def made(self) -> Any:
        name, kwargs = Spec(self.spec).parts
        return make_env(name, memory="none", **kwargs)

    def played(self, env: Any, seed: int, steps: int = _STEPS) -> list[tuple[str, str, float]]:
        """Play valid actions at random and return action, text and reward of each step."""
        rng = random.Random(seed)
        obs, _ = env.reset(seed=seed)
        found = [("", obs["text"], 0.0)]
        for _ in range(steps):
            actions = obs["valid_actions"] or env.get_wrapper_attr("valid_actions")()
            action = rng.choice(actions) if actions else "look"
            obs, reward, terminated, truncated, _ = env.step(action)
            found.append((action, obs["text"], float(reward)))
            if terminated or truncated:
                break
        return found

    def plays(self) -> str:
        env = self.made()
        obs, info = env.reset(seed=0)
        expect(env.observation_space.contains(obs), f"{obs!r:.80} is not in the observation space")
        for key in ("score", "max_score", "won", "lost", "task_id"):
            expect(key in info, f"info lacks {key!r}")
        found = [step for seed in range(3) for step in self.played(env, seed)]
        return f"{len(found) - 3} steps of 3 games"

    def gymnasium(self) -> str:
        env = self.made()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            check_env(env.unwrapped, skip_render_check=True)
        expect(not said, visible(said[0].message) if said else "")
        return "no warning"

    def same_twice(self) -> str:
        env, twin = self.made(), self.made()
        for seed in range(2):
            one, two, again = (self.played(each, seed) for each in (env, twin, env))
            expect(
                one == two == again,
                f"two games of seed {seed} differ: "
                f"{first_difference(one, again if one == two else two)}",
            )
        return "equal texts and rewards"

    def valid(self) -> str:
        env = self.made()
        obs, info = env.reset(seed=0)
        rng, steps = random.Random(0), 0
        for steps in range(1, _STEPS + 1):
            actions = obs["valid_actions"]
            expect(actions, f"no valid action at step {steps} of a running game")
            expect(all(isinstance(a, str) and a.strip() for a in actions), f"{actions!r:.80}")
            action = rng.choice(actions)
            obs, _, terminated, truncated, info = env.step(action)
            expect(
                info["is_action_valid"], f"{action!r} was listed and refused: {obs['text']!r:.60}"
            )
            if terminated or truncated:
                break
        return f"{steps} actions"

    def snapshot(self) -> str:
        env = self.made()
        obs, _ = env.reset(seed=0)
        for _ in range(4):
            obs, _, terminated, truncated, _ = env.step((obs["valid_actions"] or ("look",))[-1])
            if terminated or truncated:
                obs, _ = env.reset(seed=0)
        kept = env.get_wrapper_attr("snapshot")()
        shown: list[list[Any]] = []
        for _ in range(2):
            obs, _ = env.get_wrapper_attr("restore")(kept)
            texts: list[Any] = [obs["text"], obs["valid_actions"]]
            for _ in range(4):
                obs, reward, terminated, truncated, _ = env.step(
                    (obs["valid_actions"] or ("look",))[0]
                )
                texts += [obs["text"], reward]
                if terminated or truncated:
                    break
            shown.append(texts)
        expect(
            shown[0] == shown[1],
            f"after restore the same actions give {first_difference(*shown)}: part of the game is "
            "outside of the snapshot",
        )
        return "the same actions give the same texts"

    def pickled(self) -> str:
        name, kwargs = Spec(self.spec).parts
        made = copy.deepcopy(gym.spec("gym_memory/Fetch-v0"))
        made.kwargs.update({"name": name, "memory": "none", **kwargs})
        again = gym.make(pickle.loads(pickle.dumps(made)))
        one, two = self.made().reset(seed=0)[0], again.reset(seed=0)[0]
        expect(one == two, f"another game: {first_difference(one, two)}")
        return "the same game"

    def hostile(self) -> str:
        env = self.made()
        env.reset(seed=0)
        for command in _COMMANDS:
            _, _, terminated, truncated, info = env.step(command)
            expect("n_invalid" in info or "moves" in info, "info counts neither moves nor refusals")
            if terminated or truncated:
                env.reset(seed=0)
        return f"{len(_COMMANDS)} commands"

    def ends(self) -> str:
        env = self.made()
        limit = getattr(env.unwrapped, "max_steps", None)
        if not isinstance(limit, int) or limit > 500:
            return f"not tried: max_steps is {limit}"
        steps = len(self.played(env, 0, limit + 1)) - 1
        expect(steps <= limit, f"{steps} steps with max_steps {limit}")
        return f"ended after {steps} steps"

    def speed(self) -> str:
        env, started = self.made(), time.perf_counter()
        steps = len(self.played(env, 0))
        took = (time.perf_counter() - started) * 1e3 / steps
        expect(took < _SLOW_MS, f"{took:.0f} ms a step")
        return f"{took:.2f} ms a step"

"""Check a policy: actions as text, repeated play, observations left alone, hostile text, time."""

from __future__ import annotations

import copy
import time
from typing import Any

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.records import PlanState, Transition
from gym_memory.evaluate.contract.checks import HOSTILE_TEXTS, Check, expect, first_difference
from gym_memory.wrappers.make import make_env

__all__ = ["policy_checks"]

_STEPS = 30
_SLOW_MS = 1000.0


def policy_checks(spec: str) -> dict[str, tuple[str, Check]]:
    """Return the checks of a policy by name, each with its sentence of the contract."""
    trial = _PolicyTrial(spec)
    return {
        "plays": ("act returns the next action as text, in every episode", trial.plays),
        "same twice": ("the seed of reset is the only source of chance", trial.same_twice),
        "reset": ("reset starts an episode: nothing of the last one steers the next",
                  trial.starts_anew),
        "observation": ("act changes neither the observation nor the info", trial.leaves_alone),
        "focus": ("focus is a PlanState", trial.focus),
        "no memory": ("it plays where no memory, no inventory and no valid action is shown",
                      trial.bare),
        "hostile text": ("any text of a game gets an action, never an error", trial.hostile),
        "time": (f"an action takes less than {_SLOW_MS / 1000:g} s", trial.speed),
    }  # fmt: skip


class _PolicyTrial:
    """A policy beside real episodes."""

    def __init__(self, spec: str):
        self.spec = spec

    def made(self) -> Policy:
        return make_policy(self.spec)

    def actions(self, policy: Policy, seed: int, memory: str = "arigraph") -> list[str]:
        """Play an episode and return its actions."""
        env = make_env("Fetch", memory=memory, level="hard", max_steps=_STEPS)
        if policy.uses_oracle:
            policy.oracle = env.get_wrapper_attr("oracle")
        obs, info = env.reset(seed=seed)
        policy.reset(info, seed)
        played, done = [], False
        while not done:
            action = policy.act(obs, info)
            expect(
                isinstance(action, str),
                f"expected the action as text, got {action!r:.60} ({type(action).__name__})",
            )
            before = obs
            obs, reward, terminated, truncated, info = env.step(action)
            played.append(action)
            done = terminated or truncated
            policy.update(
                Transition(before, action, float(reward), obs, terminated, truncated, info)
            )
        return played

    def plays(self) -> str:
        policy = self.made()
        played = [action for seed in (0, 1) for action in self.actions(policy, seed)]
        return f"{len(played)} steps, {len(set(played))} different actions"

    def same_twice(self) -> str:
        one, two = self.actions(self.made(), 0), self.actions(self.made(), 0)
        expect(
            one == two,
            f"two policies play {first_difference(one, two)} under the same seed: draw from the "
            "seed that reset gets, and sort sets",
        )
        return "equal actions"

    def starts_anew(self) -> str:
        policy = self.made()
        first = self.actions(policy, 0)
        self.actions(policy, 1)
        again = self.actions(policy, 0)
        expect(
            first == again,
            f"after another episode it plays {first_difference(first, again)}: clear in reset what "
            "belongs to an episode, unless the policy learns over episodes",
        )
        return "equal actions after another episode"

    def leaves_alone(self) -> str:
        env, policy = make_env("Fetch", level="easy"), self.made()
        obs, info = env.reset(seed=0)
        policy.reset(info, 0)
        before = copy.deepcopy((obs, _plain(info)))
        policy.act(obs, info)
        expect((obs, _plain(info)) == before, f"changed: {first_difference(before, (obs, info))}")
        return "unchanged"

    def focus(self) -> str:
        policy = self.made()
        self.actions(policy, 0)
        expect(
            isinstance(policy.focus, PlanState),
            f"expected a PlanState, got {policy.focus!r:.60}: self.focus = PlanState('find it')",
        )
        return str(policy.focus.aim) or "none published"

    def bare(self) -> str:
        return f"{len(self.actions(self.made(), 0, 'none'))} steps; {self._answers(('',))}"

    def hostile(self) -> str:
        return self._answers(HOSTILE_TEXTS)

    def _answers(self, texts: tuple[str, ...]) -> str:
        """Show observations with hostile texts, and without a valid action."""
        env = make_env("Fetch", level="easy")
        obs, info = env.reset(seed=0)
        for text in texts:
            policy = self.made()
            policy.reset(info, 0)
            shown: Any = {
                "text": text, "task": text, "inventory": text, "valid_actions": (),
                "memory": text, "triples": (), "episodes": (text,), "lessons": (text,),
            }  # fmt: skip
            for valid in ((), (text or "look",)):
                action = policy.act({**obs, **shown, "valid_actions": valid}, info)
                expect(
                    isinstance(action, str), f"expected text for {text!r:.40}, got {action!r:.40}"
                )
        return f"{len(texts)} texts"

    def speed(self) -> str:
        policy, started = self.made(), time.perf_counter()
        steps = len(self.actions(policy, 0, "none"))
        took = (time.perf_counter() - started) * 1e3 / steps
        expect(took < _SLOW_MS, f"{took:.0f} ms a step")
        return f"{took:.2f} ms a step with its environment"


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key != "memory_stats"}

"""Tree exploration (LDM2, Wang et al., 3.3): find better processes than the greedy one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Outcome, PlanState, Step, Task, Transition
from gym_memory.core.settings import check_int
from gym_memory.core.trajectory import Trajectory
from gym_memory.memory.ldm2.formation import choose
from gym_memory.memory.reading import quoted

__all__ = ["Exploration", "Exploring", "explore"]


@runtime_checkable
class Exploring(Protocol):
    """A :class:`~gym_memory.baselines.base.Policy` that can explore."""

    focus: PlanState

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode."""

    def update(self, transition: Transition) -> None:
        """Record a step."""

    def candidates(self, obs: Observation) -> dict[str, float]:
        """Return possible actions with confidences in (0, 1], best first; never empty."""

    def disagree(self, obs: Observation) -> bool:
        """True if a path splits here."""

    def snapshot(self) -> Any:
        """Return a copy of the episode so far."""

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot."""


class Exploration(NamedTuple):
    """An exploration of a task: the greedy process, and those of the tree.

    ``leaves`` and their ``confidences`` are in descending confidence. ``calls`` counts requests for
    candidates, ``splits`` the branching nodes. ``whole`` is True if no limit stopped it.
    """

    greedy: Trajectory
    leaves: tuple[Trajectory, ...]
    confidences: tuple[float, ...]
    calls: int
    steps: int
    splits: int
    whole: bool

    @property
    def best(self) -> Trajectory:
        """Return the process with the highest score; ties go to the greedy one."""
        processes = (self.greedy, *self.leaves)
        best = processes[choose(processes)]
        return best if best.outcome.value > self.greedy.outcome.value else self.greedy


@dataclasses.dataclass(eq=False)
class _Node:
    """A node of the tree: the observation, and the snapshots for restoring it."""

    parent: _Node | None
    step: Step
    obs: Observation
    info: dict[str, Any]
    saved: Any
    confidence: float = 1.0
    options: dict[str, float] | None = None
    children: dict[str, _Node] = dataclasses.field(default_factory=dict)


class _ExploreTree:
    def __init__(self, env: gym.Env[Any, Any], policy: Exploring, seed: int):
        self._env, self._policy = env, policy
        self._restore = env.get_wrapper_attr("restore")
        self._snapshot = env.get_wrapper_attr("snapshot")
        self._focus = (
            env.get_wrapper_attr("set_focus") if env.has_wrapper_attr("set_focus") else None
        )
        self.calls = self.steps = 0
        obs, info = env.reset(seed=seed)
        policy.reset(info, seed)
        over = bool(info.get("won") or info.get("lost"))
        self.root = self._here = self._node(None, "", 0.0, obs, info, over)

    def _node(
        self,
        parent: _Node | None,
        action: str,
        reward: float,
        obs: Any,
        info: dict[str, Any],
        over: bool,
    ) -> _Node:
        step = Step(
            info["moves"],
            quoted(obs["text"]),
            action,
            reward,
            quoted(obs["inventory"]),
            obs["valid_actions"],
            over,
        )
        saved = (self._snapshot(), self._policy.snapshot())
        return _Node(parent, step, obs, dict(info), saved)

    def _go_to(self, node: _Node) -> None:
        """Restore environment and policy to a node, unless they are there."""
        if self._here is not node:
            below, own = node.saved
            self._restore(below)
            self._policy.restore(own)
            self._here = node

    def options(self, node: _Node) -> dict[str, float]:
        """Return the candidates of a node; cached."""
        if node.options is None:
            self._go_to(node)
            node.options = self._policy.candidates(node.obs)
            self.calls += 1
            below, _ = node.saved  # candidates may change the plan or the random generator
            node.saved = (below, self._policy.snapshot())
        return node.options

    def child(self, node: _Node, action: str) -> _Node:
        """Return the node after an action; cached."""
        if action not in node.children:
            self._go_to(node)
            if self._focus is not None:
                self._focus(self._policy.focus)
            obs, reward, ended, cut, info = self._env.step(action)
            self.steps += 1
            self._policy.update(Transition(node.obs, action, float(reward), obs, ended, cut, info))
            new = self._node(node, action, float(reward), obs, info, ended or cut)
            new.confidence = node.confidence * self.options(node)[action]
            node.children[action] = self._here = new
        return node.children[action]

    def trajectory(self, leaf: _Node, number: int = 0) -> Trajectory:
        """Return the process that ends in a node."""
        steps: list[Step] = []
        node: _Node | None = leaf
        while node is not None:
            steps.append(node.step)
            node = node.parent
        outcome = Outcome.from_info(leaf.info)
        task = Task(leaf.info["task_id"], leaf.obs["task"], self._env.get_wrapper_attr("dialect"))
        return Trajectory(number, task, tuple(steps[::-1]), outcome, leaf.step.done)


def explore(
    env: gym.Env[Any, Any],
    policy: Exploring,
    seed: int,
    *,
    width: int = 4,
    max_calls: int | None = None,
    max_steps: int | None = None,
) -> Exploration:
    """Play a task greedily and as a tree.

    Args:
        env: An environment, with a memory that does not learn (``ldm2?learn=false``).
        policy: The player.
        seed: Seed of the environment's reset and of the policy.
        width: Paths that stay after every step, >= 1; n = 4 in the paper.
        max_calls: Requests for candidates beyond the greedy process, >= 0; None for no limit.
        max_steps: The same of environment steps.
    """
    if not isinstance(policy, Exploring):
        raise InvalidArgumentError(
            f"expected a policy with candidates, disagree, snapshot and restore, such as ldm2, "
            f"got {type(policy).__name__}"
        )
    check_int("width", width, 1)
    for name, limit in (("max_calls", max_calls), ("max_steps", max_steps)):
        if limit is not None:
            check_int(name, limit, 0)
    tree = _ExploreTree(env, policy, seed)
    node = tree.root
    while not node.step.done:
        node = tree.child(node, next(iter(tree.options(node))))
    greedy = tree.trajectory(node)
    before = (tree.calls, tree.steps)

    def spent() -> bool:
        calls, steps = tree.calls - before[0], tree.steps - before[1]
        return (max_calls is not None and calls >= max_calls) or (
            max_steps is not None and steps >= max_steps
        )

    paths, splits = [tree.root], 0
    while not all(path.step.done for path in paths):
        splits += sum(not path.step.done and policy.disagree(path.obs) for path in paths)
        ahead = _ahead(tree, policy, paths, spent)
        if ahead is None:
            break
        ahead.sort(key=lambda way: -way[2])
        paths = [tree.child(path, action) if action else path for path, action, _ in ahead[:width]]
    whole = all(path.step.done for path in paths)
    return Exploration(
        greedy,
        tuple(tree.trajectory(path, number) for number, path in enumerate(paths, 1)),
        tuple(path.confidence for path in paths),
        tree.calls,
        tree.steps,
        splits,
        whole,
    )


def _ahead(
    tree: _ExploreTree, policy: Exploring, paths: Sequence[_Node], spent: Callable[[], bool]
) -> list[tuple[_Node, str, float]] | None:
    """Return ways on as (path, action, confidence); a path at its end stays where it is."""
    ways: list[tuple[_Node, str, float]] = []
    for path in paths:
        if path.step.done:
            ways.append((path, "", path.confidence))
            continue
        if path.options is None and spent():
            return None
        options = list(tree.options(path).items())
        for action, confidence in options if policy.disagree(path.obs) else options[:1]:
            ways.append((path, action, path.confidence * confidence))
    return ways

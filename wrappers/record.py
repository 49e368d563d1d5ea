"""RecordTrajectory: a file with one row per step of every episode.

With ``detail=True`` these keys join a row: what the memory knew and recalled, and the calls of
models. Facts are numbered in the order in which a row first names them, so that a row of a long
episode stays short::

    facts           [[subject, relation, object], ...]: new numbers, continuing the last row's
    came went       numbers of facts that began; [number, who ended it] of those that ended
    recalled        numbers of the recalled facts, most relevant first
    why             [how many of them in a row, why, score, path, and a note if there is one]; the
                    same for why_episodes and why_lessons
    memory          the rendered recall; episodes, lessons: its parts that are no facts
    focus           what the policy was after, in one line
    plan            the same by name: aim, last action, given up, ...
    valid_actions   the valid actions shown
    stats           facts, live facts, episodes, lessons, tokens; update_ms, recall_ms, ms (wall
                    milliseconds since the last row, without those that a person took)
    calls           role, messages, thought, answer, tokens, cost_usd (null without a price), hit
                    and ms of each model call since the last row
    substitute      why the model did not decide the action, and the answer that was not played;
                    only where that is so
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import MemoryStats, PlanState, Reason, Reasons, Substitute, Triple
from gym_memory.core.settings import check_flag
from gym_memory.core.trajectory import Row, RowWriter
from gym_memory.games.spaces import RAW_KEYS, check_keys
from gym_memory.graph import TemporalGraph
from gym_memory.llm import Call

__all__ = ["RecordTrajectory", "StepDetail"]

Obs = dict[str, Any]


class RecordTrajectory(gym.Wrapper[Obs, str, Obs, str], gym.utils.RecordConstructorArgs):
    """A recorder of what the agent saw and did, to a gzip file of JSON lines, one row per step.

    A row is on its way to the disk before ``step`` returns, so a killed run can be read up to its
    last step. Episodes are numbered on from those that the file holds;
    :func:`gym_memory.core.trajectory.read_trajectory` gives them back. Each environment needs its
    own file, those of a vector environment as well. ``row`` is the last row written; a row takes
    the ``model_calls`` since the one before it, which :func:`gym_memory.llm.logged_calls` collects,
    and as ``written`` the free operations on the memory before its action.

    Args:
        env: A text environment with text actions, with or without a memory.
        path: The file, by custom ``*.jsonl.gz``.
        valid_actions: True to record the valid actions shown.
        memory: True to record the rendered memory.
        detail: True to record all that the viewer shows: see the module.
    """

    def __init__(
        self,
        env: gym.Env[Any, str],
        path: str,
        valid_actions: bool = False,
        memory: bool = False,
        detail: bool = False,
    ):
        check_keys("RecordTrajectory", env, RAW_KEYS, "wrap a text environment, before encoding it")
        if not isinstance(env.action_space, gym.spaces.Text):
            raise InvalidArgumentError(
                f"RecordTrajectory: expected text actions, got {env.action_space}: "
                "put it below IndexActions"
            )
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise InvalidArgumentError(f"expected path as the name of a file, got {path!r}")
        check_flag("valid_actions", valid_actions)
        if check_flag("memory", memory):
            check_keys("RecordTrajectory", env, ("memory",), "put MemoryObservation below it")
        check_flag("detail", detail)
        path = os.fspath(path)
        gym.utils.RecordConstructorArgs.__init__(
            self, path=path, valid_actions=valid_actions, memory=memory, detail=detail
        )
        gym.Wrapper.__init__(self, env)
        self._path = path
        self._extra = [
            name for name, on in (("valid_actions", valid_actions), ("memory", memory)) if on
        ]
        self._writer: RowWriter | None = None
        self._episode = -1
        self._with_detail, self._detail = detail, StepDetail(None)
        self.row: Row = {}
        self.model_calls: list[Call] = []
        self.substitute: Substitute | None = None
        self._written: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Reset and record the first observation of a new episode."""
        obs, info = self.env.reset(seed=seed, options=options)
        if self._writer is None:
            self._writer = RowWriter(self._path)
            self._episode = self._writer.next_episode
        else:
            self._writer.end_episode()
            self._episode += 1
        self._detail = StepDetail(self._below("memory", None))
        self._record(obs, info)
        return obs, info

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Step and record it."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        if "written" in info and info["written"].free:
            self._written.append(action)
            return obs, float(reward), terminated, truncated, info
        self._record(obs, info, action, float(reward), terminated, truncated)
        return obs, float(reward), terminated, truncated, info

    def _record(
        self,
        obs: Obs,
        info: dict[str, Any],
        action: str = "",
        reward: float = 0.0,
        terminated: bool = False,
        truncated: bool = False,
    ) -> None:
        assert self._writer is not None  # the first reset opened it
        self.row = {
            "episode": self._episode,
            "t": info["moves"],
            "task_id": info["task_id"],
            "task": obs["task"],
            "dialect": self.env.get_wrapper_attr("dialect"),
            "action": action,
            "text": obs["text"],
            "inventory": obs["inventory"],
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "score": info["score"],
            "max_score": info["max_score"],
            "normalized_score": info["normalized_score"],
            "success": info["success"],
            "lost": info["lost"],
            "is_action_valid": info["is_action_valid"],
            **({"written": self._written} if self._written else {}),
            **{name: obs[name] for name in self._extra},
            **(self._details(obs, info) if self._with_detail else {}),
        }
        self._writer.write(self.row)
        self._written = []

    def _details(self, obs: Obs, info: dict[str, Any]) -> Row:
        reasons, plan = self._below("reasons", Reasons)(), self._below("plan", PlanState())
        row = self._detail.of(obs, info.get("memory_stats"), plan, reasons, self.model_calls)
        self.model_calls.clear()
        if self.substitute is not None:
            row, self.substitute = {**row, "substitute": self.substitute._asdict()}, None
        return row

    def leave_out(self, seconds: float) -> None:
        """Subtract the seconds that a person took from the time of the next row."""
        self._detail.leave_out(seconds)

    def _below(self, name: str, otherwise: Any) -> Any:
        """Return an attribute of a wrapper below, or ``otherwise`` if there is none."""
        return self.env.get_wrapper_attr(name) if self.env.has_wrapper_attr(name) else otherwise

    def snapshot(self) -> tuple[int, Any]:
        """Return the state of the environment below, and the number of the episode."""
        return self._episode, self.env.get_wrapper_attr("snapshot")()

    def restore(self, snapshot: tuple[int, Any]) -> tuple[Obs, dict[str, Any]]:
        """Return to a snapshot of this episode; a reader leaves out the steps after it."""
        episode, below = snapshot
        if episode != self._episode:
            raise InvalidArgumentError(
                f"expected a snapshot of episode {self._episode}, which is being recorded, got "
                f"one of episode {episode}"
            )
        obs, info = self.env.get_wrapper_attr("restore")(below)
        self._detail.rewind()
        self._written = []
        return obs, info

    def close(self) -> None:
        """Close the file and the environment."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        super().close()


class StepDetail:
    """A collector of the details of an episode's steps; one object per episode.

    Args:
        memory: The memory, or None. Changes are known of one with a graph only.
    """

    def __init__(self, memory: Any):
        self._memory = memory
        self._numbers: dict[Triple, int] = {}
        self._reported: int = -1
        self._clock = time.perf_counter()

    def rewind(self) -> None:
        """Continue from the memory's present state, after a return to an earlier step."""
        graph = self._find_graph()
        self._reported = 0 if graph is None else len(graph.events)

    def leave_out(self, seconds: float) -> None:
        """Subtract seconds from the next row's ``ms``."""
        self._clock += seconds

    def of(
        self,
        obs: Mapping[str, Any],
        stats: MemoryStats | None,
        plan: PlanState,
        reasons: Reasons,
        calls: Iterable[Call] = (),
    ) -> dict[str, Any]:
        """Return the detail of the step that led to an observation."""
        before = len(self._numbers)
        came, went = self._changes()
        recalled = [self._number(triple) for triple in obs.get("triples", ())]
        row: dict[str, Any] = {
            "facts": list(self._numbers)[before:],
            "came": came,
            "went": went,
            "recalled": recalled,
            "why": _runs(reasons.triples),
            "why_episodes": _runs(reasons.episodes),
            "why_lessons": _runs(reasons.lessons),
            "memory": obs.get("memory", ""),
            "episodes": obs.get("episodes", ()),
            "lessons": obs.get("lessons", ()),
            "focus": str(plan),
            "plan": {"aim": str(plan.aim), **plan.notes()} if str(plan.aim) else {},
            "valid_actions": tuple(obs["valid_actions"]),
            "stats": self._stats(stats),
            "calls": [_call(call) for call in calls],
        }
        return {name: value for name, value in row.items() if value}

    def _number(self, triple: Triple) -> int:
        return self._numbers.setdefault(triple, len(self._numbers))

    def _find_graph(self) -> TemporalGraph | None:
        # The memory may have been replaced.
        return None if self._memory is None else self._memory.graph

    def _changes(self) -> tuple[list[int], list[list[Any]]]:
        """Return the facts that began and that ended since the last row."""
        graph = self._find_graph()
        if graph is None:
            return [], []
        if self._reported < 0 or self._reported > len(
            graph.events
        ):  # the first row: all that is known
            self._reported = len(graph.events)
            return [self._number(triple) for triple in graph.live()], []
        began: dict[int, None] = {}
        ended: dict[int, str] = {}
        for position in range(self._reported, len(graph.events)):
            _, triple, by, *_ = graph.events[position]
            number = self._number(triple)
            if not by:
                if ended.pop(number, None) is None:
                    began[number] = None
            elif number in began:
                del began[number]
            else:
                ended[number] = by
        self._reported = len(graph.events)
        return list(began), [[number, by] for number, by in ended.items()]

    def _stats(self, stats: MemoryStats | None) -> dict[str, float]:
        now = time.perf_counter()
        row: dict[str, float] = {"ms": round((now - self._clock) * 1e3, 2)}
        self._clock = now
        if stats is not None:
            for name in ("facts", "live_facts", "episodes", "lessons", "tokens"):
                row[name] = getattr(stats, name)
            row["update_ms"] = round(stats.update_ms, 3)
            row["recall_ms"] = round(stats.recall_ms, 3)
        return row


def _runs(reasons: Iterable[Reason]) -> list[list[Any]]:
    """Return reasons, each with its number in a row."""
    return [
        [len(list(group)), why, score, list(path), *([note] if note else [])]
        for (why, score, path, note), group in groupby(reasons)
    ]


def _call(call: Call) -> dict[str, Any]:
    return {
        "role": call.role,
        "messages": list(call.messages),
        **({"thought": call.thought} if call.thought else {}),
        "answer": call.answer,
        "tokens": call.tokens._asdict(),
        "cost_usd": call.cost_usd if call.priced else None,
        "hit": call.hit,
        "ms": round(call.seconds * 1e3, 1),
    }

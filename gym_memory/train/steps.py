"""Prompts for training, records with one row per step, and a teacher beside the learner."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import gymnasium as gym

from gym_memory.baselines.llm.answers import match_action
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.rl.shared.teachers import PlannerTeacher, TeacherAdvice
from gym_memory.core.errors import ResultsError
from gym_memory.core.records import Observation, value_of
from gym_memory.core.settings import Help
from gym_memory.core.text import with_reward
from gym_memory.core.trajectory import Row, last_way, read_rows
from gym_memory.llm import Message
from gym_memory.memory.reading import QUOTE, quoted
from gym_memory.run.config import Job
from gym_memory.run.results.folder import read_config, read_episodes
from gym_memory.wrappers.encode import INSTRUCTIONS, render_prompt
from gym_memory.wrappers.memory import DEFAULT_BUDGET, MemoryObservation

__all__ = [
    "COLUMNS",
    "MAX_ACTIONS",
    "AdvisedObservation",
    "PromptedPolicy",
    "PromptedSettings",
    "RecordedEpisode",
]
__all__ += ["Record", "anchor", "chat_rows", "make_row", "memory_digest", "opening", "played"]
__all__ += ["returns", "state_prompt", "step_rows", "turn_text"]

_HEADING = re.compile(r"^(?=#+ )", re.MULTILINE)
MAX_ACTIONS = 30
"""Most valid actions that a prompt lists."""


def state_prompt(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> list[Message]:
    """Return the whole state as one prompt: task, memory, inventory, text, valid actions."""
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": opening(obs, max_actions)},
    ]


def opening(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """Return the first turn of a conversation that grows: the whole state, texts quoted."""
    return render_prompt(_quoted(obs), instructions="", max_actions=max_actions)


def turn_text(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """Return a later turn of that conversation: the news, without task and memory."""
    shown: Observation = {**_quoted(obs), "task": "", "memory": ""}
    return render_prompt(shown, instructions="", max_actions=max_actions)


def _quoted(obs: Observation) -> Observation:
    """Return an observation in whose texts the only record is what the step earned, at the end."""

    def shown(text: str) -> str:
        return _HEADING.sub(QUOTE, quoted(text))

    texts = {name: shown(obs[name]) for name in ("task", "text", "inventory")}
    texts["text"] = with_reward(texts["text"], obs.get("earned", 0.0))
    return {**obs, **texts}  # type: ignore[typeddict-item]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptedSettings(LanguageSettings):
    """Settings of a policy without a transcript."""

    history: int | None = dataclasses.field(default=0, init=False)
    history_tokens: int = dataclasses.field(default=0, init=False)
    max_actions: Annotated[
        int, Help("Valid actions that the prompt lists, at most; 0 for none.", low=0)
    ] = MAX_ACTIONS


class PromptedPolicy(LanguagePolicy):
    """A model that acts on the present state and the memory alone."""

    settings_class = PromptedSettings
    settings: PromptedSettings
    answer_tokens: int = 512

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the model's action."""
        messages = state_prompt(obs, self.settings.max_actions)
        answer = self.attempt(lambda: self._complete("act", messages, None).text, "")
        return self.act_on(answer, obs)


Record = dict[str, Any]
"""A row of a step by column, see :data:`COLUMNS`."""

COLUMNS = (
    *("env", "memory", "policy", "seed", "trial", "task_id", "t", "prompt", "reply", "action"),
    *("logprobs", "reward", "return", "terminated", "truncated", "done", "score"),
    *("normalized_score", "success", "is_action_valid", "anchor", "memory_digest"),
)
"""Columns of a row of :func:`step_rows`.

``t`` counts the steps before; ``prompt`` is a list of messages; ``logprobs`` are natural logarithms
a token of the reply, or None; ``return`` is the sum of the rewards from this step on; scores are
those after the step.
"""


def anchor(task: str, text: str, inventory: str = "") -> str:
    """Return a hash of a bare observation and its task, without the memory."""
    return _hash(task, text, inventory)


def memory_digest(memory: str) -> str:
    """Return a hash of a recalled memory; the hash of the empty text if nothing is recalled."""
    return _hash(memory)


def _hash(*texts: str) -> str:
    # As JSON, so that no two lists of texts run together.
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]


class RecordedEpisode(NamedTuple):
    """A recorded episode of a job; steps that were taken back are left out."""

    job: Job
    trial: int
    rows: Sequence[Row]


def played(folder: str | os.PathLike[str]) -> Iterator[RecordedEpisode]:
    """Yield the finished episodes of a results folder, in the order of its configuration."""
    finished = {rows[0].job.key: rows for rows in read_episodes(folder)}
    for job in read_config(folder).jobs():
        rows = finished.get(job.key)
        if rows is None or any(row.result.failed for row in rows):
            continue
        path = Path(folder) / "steps" / job.steps_file
        by_episode = groupby(read_rows(path), key=lambda row: row["episode"])
        episodes = [(episode, [*recorded]) for episode, recorded in by_episode]
        expected = [row.result.steps for row in rows]
        found = [max(row["t"] for row in recorded) for _, recorded in episodes]
        if found != expected:
            raise ResultsError(
                f"expected episodes of {expected} steps at {str(path)!r}, got {found}: the file is "
                "damaged, see gym-memory verify"
            )
        for episode, recorded in episodes:
            kept = last_way(recorded)
            if "memory" not in kept[0] and "stats" not in kept[0]:
                raise ResultsError(
                    f"{str(path)!r} was recorded without what the memory recalled, by an earlier "
                    "gym-memory: play the run again"
                )
            yield RecordedEpisode(job, episode, kept)


def step_rows(
    episodes: Iterable[RecordedEpisode], max_actions: int | None = MAX_ACTIONS
) -> Iterator[Record]:
    """Yield one row per step, see :data:`COLUMNS`; a prompt lists ``max_actions``, None for all."""
    for episode in episodes:
        job, rows = episode.job, episode.rows
        who = (job.env, job.memory, job.policy, job.seed, episode.trial)
        ahead = returns([float(row["reward"]) for row in rows[1:]])
        for before, after, later in zip(rows, rows[1:], ahead, strict=False):
            prompt, reply = _deciding_call(after) or (
                state_prompt(_shown(before), max_actions),
                after["action"],
            )
            yield make_row(who, before, after, (prompt, reply, None), later)


def make_row(
    who: tuple[str, str, str, int, int],
    before: Row,
    after: Row,
    said: tuple[list[Message], str, list[float] | None],
    later: float,
) -> Record:
    """Return one row of :data:`COLUMNS`, from the recorded rows of the states before and after.

    ``who`` has environment, memory, policy, seed and trial; ``said`` prompt, reply and the
    log-probabilities of its tokens; ``later`` the sum of the rewards from this step on.
    """
    values = (
        *(*who, after["task_id"], before["t"], said[0], said[1], after["action"], said[2]),
        *(float(after["reward"]), later, after["terminated"], after["truncated"]),
        *(after["terminated"] or after["truncated"], float(after["score"])),
        *(value_of(after), bool(after["success"]), after["is_action_valid"]),
        anchor(before["task"], before["text"], before["inventory"]),
        memory_digest(before.get("memory", "")),
    )
    return dict(zip(COLUMNS, values, strict=True))


def chat_rows(
    episodes: Iterable[RecordedEpisode], max_actions: int | None = MAX_ACTIONS
) -> Iterator[Record]:
    """Yield one chat per step that ends in the reply, for supervised trainers."""
    for row in step_rows(episodes, max_actions):
        answer: Message = {"role": "assistant", "content": row["reply"]}
        yield {
            "messages": [*row["prompt"], answer],
            "reward": row["reward"],
            "return": row["return"],
            "normalized_score": row["normalized_score"],
            "task_id": row["task_id"],
        }


def returns(rewards: Sequence[float]) -> list[float]:
    """Return the sum of the rewards from each step on."""
    ahead, later = 0.0, []
    for reward in reversed(rewards):
        ahead += reward
        later.append(ahead)
    return later[::-1]


def _shown(row: Row) -> Any:
    shown = {name: row.get(name, "") for name in ("text", "task", "inventory", "memory")}
    return {**shown, "valid_actions": tuple(row.get("valid_actions", ()))}


def _deciding_call(row: Row) -> tuple[list[Message], str] | None:
    """Return the model call that decided on a row's action: the last whose answer names it."""
    calls: Sequence[Mapping[str, Any]] = row.get("calls", ())
    for call in reversed(calls):
        lines = str(call["answer"]).splitlines()
        if any(match_action(line.rpartition(":")[2], (row["action"],)) for line in lines):
            return list(call["messages"]), call["answer"]
    return None


Obs = dict[str, Any]
_OF_MEMORY = ("memory", "triples", "episodes", "lessons")


class _Relay(gym.Wrapper[Obs, str, Obs, str]):
    """An environment that repeats the last answer of another one."""

    answer: tuple[Obs, float, bool, bool, dict[str, Any]]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        return self.answer[0], dict(self.answer[4])

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.answer
        return obs, reward, terminated, truncated, dict(info)


class AdvisedObservation(gym.Wrapper[Obs, str, Obs, str]):
    """An observation with ``advice``: the action of a planner with a memory of its own.

    So learners that see different memories have the same teacher.
    """

    def __init__(
        self, env: gym.Env[Any, str], memory: str = "arigraph", budget: int = DEFAULT_BUDGET
    ):
        super().__init__(env)
        space = env.observation_space
        assert isinstance(space, gym.spaces.Dict)
        self.observation_space = gym.spaces.Dict(
            {**space.spaces, "advice": gym.spaces.Text(10_000, min_length=0)}
        )
        self._relay = _Relay(env.unwrapped)
        self._view = MemoryObservation(self._relay, memory, budget)
        self._teacher = PlannerTeacher(env.get_wrapper_attr("dialect"))
        self._advice: TeacherAdvice | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Reset game and teacher."""
        obs, info = self.env.reset(seed=seed, options=options)
        self._advice = None
        self._pass_on(obs, 0.0, False, False, info)
        return self._advised(obs, self._view.reset(seed=seed)[0], info, ""), info

    def step(self, action: str) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Step; the teacher sees the result."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._pass_on(obs, float(reward), terminated, truncated, info)
        view = self._view.step(action)[0]
        over = terminated or truncated
        shown = {**obs, "advice": ""} if over else self._advised(obs, view, info, action)
        return shown, float(reward), terminated, truncated, info

    def _pass_on(self, obs: Obs, *rest: Any) -> None:
        raw = {key: value for key, value in obs.items() if key not in _OF_MEMORY}
        self._relay.answer = (raw, *rest)

    def _advised(self, obs: Obs, view: Any, info: dict[str, Any], action: str) -> Obs:
        self._advice = self._teacher.advise(view, info["task_id"], self._advice, action)
        return {**obs, "advice": self._advice.action}

"""Digest the texts of a task, and compare an installation with a panel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from gym_memory.core.errors import GymMemoryError, MissingDependencyError
from gym_memory.core.files import read_bytes
from gym_memory.panels.panel import DIGITS, PARTS, ObservationDigests, PanelTask

__all__ = ["FILE", "MOST_STEPS", "TextDifference", "check_panel", "content_of", "differences"]
__all__ += ["observe", "shown"]

FILE = "md5:"
"""Prefix of the content digest of a task from a story file."""
MOST_STEPS = 100
"""Most steps of a walkthrough to digest."""
_STEPS_WITHOUT_WALKTHROUGH = 20
"""Steps to digest if a world has no walkthrough."""


class TextDifference(NamedTuple):
    """A text of this installation that differs from the panel's.

    ``step`` 0 is the reset. Other parts are "file", for a story with another MD5, and "task", for
    one that could not be played, with the reason.
    """

    task_id: str
    step: int
    part: str
    found: str


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def texts(obs: Mapping[str, Any], step: int) -> tuple[str, str, str]:
    """Return the parts of an observation as texts; the first step includes the goal."""
    text = obs["text"] if step else f"{obs['task']}\n\n{obs['text']}"
    return text, obs["inventory"], "\n".join(obs["valid_actions"])


def shown(obs: Mapping[str, Any], step: int) -> ObservationDigests:
    """Return the digests of an observation."""
    return ObservationDigests(*map(_digest, texts(obs, step)))


def observe(
    env: gym.Env[Any, str], task_id: str, way: Sequence[str] = (), way_of: str | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield the observations of a task at reset and along a way, by default its walkthrough.

    Without a walkthrough, the digest of task and step selects valid actions; ``way_of`` is another
    task whose selection to use.
    """
    obs, _ = env.reset(options={"task_id": task_id})
    yield obs
    way = way or env.get_wrapper_attr("oracle")().walkthrough
    for step in range(min(len(way), MOST_STEPS) or _STEPS_WITHOUT_WALKTHROUGH):
        actions = env.get_wrapper_attr("valid_actions")() if not way else ()
        if not way and not actions:
            return
        draw = int(_digest(f"{way_of or task_id} {step}"), 16)
        action = way[step] if way else actions[draw % len(actions)]
        obs, _, terminated, truncated, _ = env.step(action)
        yield obs
        if terminated or truncated:
            return


def content_of(env: gym.Env[Any, str], obs: Mapping[str, Any]) -> str:
    """Return a digest of a task at its start: goal, first text and engine facts.

    It does not depend on the task's name, so it identifies tasks across names.
    """
    facts = sorted(map(list, env.get_wrapper_attr("oracle")().facts))
    record = json.dumps([obs["task"], obs["text"], facts], sort_keys=True)
    return hashlib.sha256(record.encode()).hexdigest()[: 2 * DIGITS]


def check_panel(
    tasks: Iterable[PanelTask], env: gym.Env[Any, str]
) -> Iterator[tuple[PanelTask, list[TextDifference]]]:
    """Play the recorded actions of each task; yield the task with its differing texts."""
    for task in tasks:
        yield task, list(differences(env, task))


def _other_file(env: gym.Env[Any, str], task: PanelTask) -> str:
    """Return the MD5 of a task's story if it differs from the panel's; else empty."""
    if not task.content.startswith(FILE):
        return ""
    story = read_bytes(env.get_wrapper_attr("description")(task.task_id))
    found = hashlib.md5(story, usedforsecurity=False).hexdigest()
    return "" if found == task.content.removeprefix(FILE) else found


def differences(env: gym.Env[Any, str], task: PanelTask) -> Iterator[TextDifference]:
    """Play the recorded actions of a task; yield the differences from the panel.

    Raises:
        MissingDependencyError: The game's package is not installed.
    """
    step = -1
    try:
        if found_file := _other_file(env, task):
            yield TextDifference(task.task_id, 0, "file", f"MD5 {found_file}")
        if not task.shown:
            return
        for step, obs in enumerate(observe(env, task.task_id, task.way)):
            if step >= len(task.shown):
                yield TextDifference(task.task_id, step, "task", "goes on beyond the panel's end")
                return
            found = texts(obs, step)
            for part, text, known in zip(PARTS, found, task.shown[step], strict=True):
                if _digest(text) != known:
                    yield TextDifference(task.task_id, step, part, text)
    except MissingDependencyError:
        raise
    except (GymMemoryError, LookupError, OSError) as error:
        yield TextDifference(task.task_id, step + 1, "task", f"cannot be played: {error}")
        return
    if step + 1 < len(task.shown):
        yield TextDifference(task.task_id, step + 1, "task", "ended before the panel's end")

"""What was played as a Minari dataset, whose environment can be made again and replayed.

The observation of a step is its prompt (:class:`gym_memory.wrappers.PromptObservation`), the
action is text. ``MinariDataset.recover_environment`` gives the environment with its memory;
an episode's ``seed`` and ``options`` (in the episode metadata) begin it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.names import parse_spec
from gym_memory.core.optional import require
from gym_memory.games.registry import env_id, register_envs
from gym_memory.train.steps import Played
from gym_memory.version import __version__
from gym_memory.wrappers.prompt import PromptObservation, render_prompt

__all__ = ["to_minari"]


def to_minari(episodes: Sequence[Played], dataset_id: str) -> tuple[str, int]:
    """Make a Minari dataset of episodes that were played in one environment with one memory.

    Args:
        episodes: What was played.
        dataset_id: Its name, ``namespace/name-v0``.

    Returns:
        The folder of the dataset, and the number of episodes.

    Raises:
        ResultsError: There is no episode, or they come from several environments or memories, or
            the memory was kept from trial to trial.
        InvalidArgumentError: The name is taken or not of that form.
        MissingDependencyError: Minari is not installed.
    """
    minari = require("minari", "minari", "Minari datasets")
    cells = {(e.job.env, e.job.memory, e.job.budget) for e in episodes}
    if len(cells) != 1 or any(e.trial for e in episodes):
        raise ResultsError(
            f"expected episodes of one environment with one memory, one a seed, got {len(cells)} "
            "pairs of them or several trials: a Minari dataset has one environment"
        )
    ((spec, memory, budget),) = cells
    name, kwargs = parse_spec(spec)
    register_envs()
    env = PromptObservation(gym.make(env_id(name), memory=memory, budget=budget, **kwargs))
    try:
        made = minari.create_dataset_from_buffers(
            dataset_id,
            [_buffer(number, episode) for number, episode in enumerate(episodes)],
            env=env,
            observation_space=_text_space(_prompts(episodes)),
            action_space=_text_space(row["action"] for e in episodes for row in e.rows),
            algorithm_name=", ".join(dict.fromkeys(e.job.policy for e in episodes)),
            description=f"{spec} with memory {memory}, recorded by gym-memory {__version__}",
            requirements=["gym-memory"],
            data_format="arrow",
        )
    except ValueError as error:
        raise InvalidArgumentError(f"cannot make the dataset {dataset_id!r}: {error}") from error
    finally:
        env.close()
    return str(made.storage.data_path), len(episodes)


def _prompts(episodes: Sequence[Played]) -> Any:
    return (_prompt(row) for episode in episodes for row in episode.rows)


def _prompt(row: Any) -> str:
    return render_prompt({**row, "valid_actions": tuple(row.get("valid_actions", ()))})


def _text_space(texts: Any) -> gym.spaces.Text:
    """The narrowest space that holds texts: Minari keeps Gymnasium's own kind, which lists them."""
    letters, longest = set("abcdefghijklmnopqrstuvwxyz "), 1
    for text in texts:
        letters.update(text)
        longest = max(longest, len(text))
    return gym.spaces.Text(longest, min_length=0, charset="".join(sorted(letters)))


def _buffer(number: int, episode: Played) -> Any:
    buffer = require("minari", "minari", "Minari datasets").data_collector.EpisodeBuffer
    rows = episode.rows
    return buffer(
        id=number,
        seed=episode.job.seed,
        options={"task_id": rows[0]["task_id"]},
        observations=[_prompt(row) for row in rows],
        actions=[row["action"] for row in rows[1:]],
        rewards=[float(row["reward"]) for row in rows[1:]],
        terminations=[row["terminated"] for row in rows[1:]],
        truncations=[row["truncated"] for row in rows[1:]],
    )

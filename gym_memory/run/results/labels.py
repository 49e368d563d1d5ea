"""Labels of a score: the model that answered, the seeds and the step limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gym_memory.core.names import Spec
from gym_memory.draw.svg import short_spec
from gym_memory.run import EpisodeResult

__all__ = ["SCRIPTED", "decider", "labels", "models_of", "step_limit"]

SCRIPTED = "scripted"
"""Model name of the scripted chat server."""
_CALLED = {SCRIPTED: "scripted rules"}


def models_of(results: Iterable[EpisodeResult]) -> tuple[str, ...]:
    """Return the names of the language models that answered in episodes, sorted."""
    return tuple(sorted({model for result in results for model in result.models}))


def decider(models: Sequence[str]) -> str:
    """Describe the source of the answers; empty if no model was called.

    >>> decider(["scripted"]), decider(["qwen", "scripted"]), decider([])
    ('scripted rules', 'qwen and scripted rules', '')
    """
    return " and ".join(_CALLED.get(model, model) for model in models)


def step_limit(env: str) -> int | None:
    """Return the step limit that an environment's name sets; None for the game's own."""
    limit = Spec(env).kwargs.get("max_steps")
    return limit if isinstance(limit, int) else None


def labels(rows: Iterable[Any]) -> list[str]:
    """Return sentences that name models, seeds and step limits of rows of scores.

    >>> labels([])
    []
    """
    players: dict[str, dict[str, None]] = {}
    seeds: dict[str, None] = {}
    steps: dict[str, None] = {}
    for row in rows:
        if row.models:
            name = short_spec(row.policy)
            players.setdefault(decider(row.models), {})[name] = None
        seeds[row.seeds] = None
        steps[f"at most {row.max_steps}" if row.max_steps else "the game's own"] = None
    sentences = [
        f"Calls for a language model are answered by {who}"
        + (f" in the rows of {_listed(names)}." if len(players) > 1 else ".")
        for who, names in players.items()
    ]
    if not seeds:
        return []
    return [*sentences, f"Seeds {_listed(seeds)}; steps of an episode: {_listed(steps)}."]


def _listed(names: Mapping[str, None]) -> str:
    return ", ".join(names)

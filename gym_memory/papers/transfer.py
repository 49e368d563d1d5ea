"""Plan CLIN's four experiments (Majumder et al., section 4) in any environment with splits.

``adapt``: trials of one task from an empty memory. ``gen-env``: one trial from the meta-memory of
training episodes of the same task elsewhere. ``gen-task``: the same from other tasks in the same
environment. ``gen-adapt``: either of the two, then trials that keep learning (the paper's G+A).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec, specs
from gym_memory.core.settings import check_known, check_name
from gym_memory.memory.base import MEMORIES, SharedSettings
from gym_memory.run.config import SINGLE_EPISODE, RunConfig

__all__ = ["SETUPS", "trained_on", "transfer"]

_EPISODES = 10

SETUPS = {
    "adapt": (False, True),
    "gen-env": (True, False),
    "gen-task": (True, False),
    "gen-adapt": (True, True),
}
"""Setups by name: whether there is a meta-memory, and whether test instances have trials."""


def trained_on(env: Spec) -> Spec:
    """Return the environment on its split ``train``.

    >>> trained_on(Spec("Cooking?level=rl-3&split=test"))
    'Cooking?level=rl-3&split=train'
    """
    return Spec.of(env.name, {**env.kwargs, "split": "train"})


def transfer(
    setup: str,
    config: RunConfig,
    archive: Path,
    *,
    sources: Sequence[str] = (),
    train_seeds: Sequence[int] | None = None,
    trials: int = 5,
) -> dict[str, RunConfig]:
    """Return the runs of an experiment by name, ``train`` before ``test``.

    Args:
        setup: A name of :data:`SETUPS`.
        config: Environments, memories (without lifetime, path and use), policies and seeds to test.
        archive: File of the archive; every memory has its own beside it.
        sources: Environments to train on; empty for the tested ones on their split ``train``.
        train_seeds: Training episodes. None: ten, as many as the paper's archive holds; with
            sources the tested seeds, so that another task is learnt where it is then played:
            :class:`.Clin` takes what it learnt under the same seed or from the same beginning.
        trials: Trials of an episode, a win ends them; five in the paper.
    """
    check_name("setup", setup, SETUPS)
    if (setup == "gen-task") > bool(sources) or (setup == "adapt" and sources):
        raise InvalidArgumentError(
            "expected environments to train on with gen-task, and none with adapt, got "
            f"{', '.join(sources) or 'none'} with {setup}"
        )
    trains, adapts = SETUPS[setup]
    several = Spec.of("trials", {"k": trials, "stop": True})
    protocol = several if adapts else SINGLE_EPISODE
    if not trains:
        return {"test": replace(config, protocol=protocol)}
    if train_seeds is None:
        train_seeds = config.seeds if sources else range(_EPISODES)
    train = replace(
        config,
        envs=specs(sources) or tuple(dict.fromkeys(map(trained_on, config.envs))),
        memories=_archived(config.memories, archive, "write"),
        seeds=tuple(train_seeds),
        protocol=several,
    )
    memories = _archived(config.memories, archive, "read")
    return {"train": train, "test": replace(config, memories=memories, protocol=protocol)}


def _archived(memories: Sequence[Spec], archive: Path, use: str) -> tuple[Spec, ...]:
    """Return the memories, each with a file of its own to write or to read."""
    found = []
    for number, spec in enumerate(memories):
        name, kwargs = spec.parts
        path = archive.with_stem(f"{archive.stem}-{number}") if number else archive
        kwargs = {**kwargs, "lifetime": "forever", "store": str(path), "use": use}
        check_known(f"memory {name!r}", MEMORIES.get(name), kwargs, [*vars(SharedSettings())])
        found.append(Spec.of(name, kwargs))
    return tuple(found)

"""CLIN's four experiments (Majumder et al., section 4) on any environment with splits.

``adapt``: trials of one task from an empty memory. ``gen-env``: one trial from the meta-memory of
training episodes of the same task elsewhere; ``gen-task``: of other tasks in the same environment.
``gen-adapt``: either, then trials that go on learning (the paper's G+A).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import format_spec, parse_spec
from gym_memory.core.settings import check_known, check_name
from gym_memory.memory.base import MEMORIES
from gym_memory.run.jobs import RunConfig

__all__ = ["SETUPS", "trained_on", "transfer"]


_EPISODES = 10


SETUPS = {
    "adapt": (False, True),
    "gen-env": (True, False),
    "gen-task": (True, False),
    "gen-adapt": (True, True),
}
"""Name to whether it starts from a meta-memory, and whether the tested instance gets trials."""


def trained_on(env: str) -> str:
    """Return the environment on its split ``train``.

    >>> trained_on("Cooking?level=rl-3&split=test")
    'Cooking?level=rl-3&split=train'
    """
    name, kwargs = parse_spec(env)
    return format_spec(name, {**kwargs, "split": "train"})


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
            :class:`.Clin` pairs ids such as ``scienceworld/boil/21`` and ``.../freeze/21``.
        trials: Trials of an episode, a win ends them; five in the paper.
    """
    check_name("setup", setup, SETUPS)
    if (setup == "gen-task") > bool(sources) or (setup == "adapt" and sources):
        raise InvalidArgumentError(
            "expected environments to train on with gen-task, and none with adapt, got "
            f"{', '.join(sources) or 'none'} with {setup}"
        )
    trains, adapts = SETUPS[setup]
    several = format_spec("trials", {"k": trials, "stop": True})
    protocol = several if adapts else "single_episode"
    if not trains:
        return {"test": replace(config, protocol=protocol)}
    if train_seeds is None:
        train_seeds = config.seeds if sources else range(_EPISODES)
    train = replace(
        config,
        envs=tuple(sources) or tuple(dict.fromkeys(map(trained_on, config.envs))),
        memories=_archived(config.memories, archive, "write"),
        seeds=tuple(train_seeds),
        protocol=several,
    )
    memories = _archived(config.memories, archive, "read")
    return {"train": train, "test": replace(config, memories=memories, protocol=protocol)}


def _archived(memories: Sequence[str], archive: Path, use: str) -> tuple[str, ...]:
    """Return the memories with a file for each, which they only write or only read."""
    found = []
    for number, spec in enumerate(memories):
        name, kwargs = parse_spec(spec)
        path = archive.with_stem(f"{archive.stem}-{number}") if number else archive
        kwargs = {**kwargs, "lifetime": "forever", "store": str(path), "use": use}
        check_known(f"memory {name!r}", MEMORIES.get(name), kwargs, ("trust",))
        found.append(format_spec(name, kwargs))
    return tuple(found)

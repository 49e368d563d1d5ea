"""Warnings about runs that learn from their test tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.panels.leaks import panels_with
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.protocols import make_protocol

__all__ = ["mixtures", "training_mixtures"]


def mixtures(config: RunConfig) -> Iterator[str]:
    """Yield warnings about panels whose tasks this run also learns from."""
    tested = [env for env in config.envs if env.name == "Panel"]
    tests = getattr(make_protocol(config.protocol), "tests", ())
    tested += [spec for spec in map(Spec, tests) if spec.name == "Panel"]
    names = {env.kwargs.get("panel"): env for env in tested}
    for memory in config.memories:
        kept = Job(config.envs[0], memory, config.policies[0], 0).kept
        for env in tested if kept == "online" else ():
            yield (
                f"{memory} keeps what it learns on {env}: the row is of a memory that learns at "
                "test. Add learn=false to freeze it"
            )
    for env in config.envs if names else ():
        if env.name != "Panel":
            for name, count in _held(env).items():
                if name in names:
                    yield f"{count} tasks of {names[name]} are in {env}, too: play them apart"


def training_mixtures(env: str, split: str, what: str) -> Iterator[str]:
    """Yield warnings about panels whose tasks a training plays as ``what``."""
    spec = Spec(env)
    for name, count in _held(Spec.of(spec.name, {**spec.kwargs, "split": split})).items():
        yield (
            f"{count} of the {what} games are those of panel:{name}: after this training its "
            "number is no test"
        )


def _held(env: Spec) -> dict[str, int]:
    with contextlib.suppress(GymMemoryError):  # playing it reports this
        made: Any = Job(env, Spec("none"), Spec("random"), 0).make_env()
        with contextlib.closing(made):
            return panels_with(env, made.get_wrapper_attr("task_ids"))
    return {}

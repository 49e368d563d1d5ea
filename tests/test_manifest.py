"""Compare behaviour with the record in ``manifest/manifest.json``."""

from __future__ import annotations

import pytest
from manifest.cells import cells
from manifest.record import PLAYS, TRAINING, read, replay
from manifest.train import LEARNERS, machine

from gym_memory.baselines.base import POLICIES
from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.names import Spec
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory import MEMORIES

pytestmark = pytest.mark.slow

FAKES = {"FakeHouse", "ForeignHouse"}
"""Environments of the tests that have cells too."""
PLUGGED = {"belief"}
"""A memory of another package of this repository."""
NEED_MORE = {"human", "calm", "choose", "lm", "prompted", "sb3"}
"""Policies that need a person or weights of a model; what ``calm`` learns depends on the CPU."""


@pytest.mark.parametrize("game", PLAYS)
def test_behaviour_is_as_recorded(game: str) -> None:
    try:
        found = replay(game)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    recorded = read()
    if game == TRAINING:
        there = {recorded[name]["machine"] for name in found}
        if there != {machine()}:
            pytest.skip(f"the weights were recorded with {there}, this is {machine()}")
    changed = [
        f"{name}: {kind}"
        for name, record in found.items()
        for kind, value in record.items()
        if recorded.get(name, {}).get(kind) != value
    ]
    assert not changed, (
        "behaviour changed; if that is intended, run 'python -m tests.manifest --write "
        f"--only {game}':\n" + "\n".join(changed)
    )


def test_everything_registered_is_recorded() -> None:
    assert {name for game in PLAYS.values() for name in game} == set(read())
    specs = [(job.env, job.memory, job.policy) for job in cells()]
    played = [{Spec(spec).name for spec in column} for column in zip(*specs, strict=True)]
    trained = {Spec(name).name for name in LEARNERS}
    assert played[0] == {*ENVIRONMENTS.builtin(), *FAKES}
    assert played[1] == {*MEMORIES.builtin(), *PLUGGED}
    assert played[2] | trained | NEED_MORE == set(POLICIES.builtin())

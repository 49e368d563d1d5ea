"""Our engine against ALFWorld's own, on our households: same text, same commands, same win.

``benchmarks/alfworld`` does the same on official games.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from gym_memory.games.alfworld.household import make_household
from gym_memory.games.alfworld.world import NOTHING_HAPPENS, Game, HouseholdPlay

pytest.importorskip("fast_downward")
BANNER = "-= Welcome to TextWorld, ALFRED! =-\n\n"


@pytest.fixture
def stock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))  # importing makes that folder
    environment = pytest.importorskip("alfworld.agents.environment.alfred_tw_env")
    import textworld

    def start(data: dict[str, Any]) -> Any:
        path = tmp_path / "game.tw-pddl"
        path.write_text(json.dumps(data))
        infos = textworld.EnvInfos(won=True, admissible_commands=True, policy_commands=True)
        wrappers = [environment.AlfredDemangler, environment.AlfredInfos]
        return textworld.start(str(path), infos, wrappers=wrappers)

    return start


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "number"), [("pick_clean_then_place_in_recep", 1), ("look_at_obj_in_light", 0)]
)
def test_engines_agree_and_planner_solves_the_household(kind: str, number: int, stock: Any) -> None:
    data = make_household(kind, "train", number)
    env, rng = stock(data), random.Random(0)
    state = env.reset()
    game = Game(data)
    assert state.feedback == BANNER + game.intro
    ours = HouseholdPlay(game)
    planned = HouseholdPlay(game)
    for command in state["policy_commands"]:
        assert planned.send(command) is not None
    assert planned.won()
    for walked in ("", *game.walkthrough):
        handling = [c for c in ours.commands() if not c.startswith("go to ")]
        for command in (rng.choice(handling), walked):
            if command:
                state, _, done = env.step(command)
                assert state.feedback == (ours.send(command) or NOTHING_HAPPENS)
                assert tuple(state["admissible_commands"]) == ours.commands()
                assert done == ours.won()
        if done:
            break
    assert done

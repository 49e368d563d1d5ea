"""Solve our households with Fast Downward, ALFWorld's planner; its plans win in our engine.

    python benchmarks/alfworld/planner.py

writes ``planner.json``: ten households of each type, the length of the planner's plan and of the
walkthrough that the generator wrote.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from importlib.metadata import version
from pathlib import Path

from gym_memory.games.alfworld.household import GENERATOR, TASK_TYPES, make_household
from gym_memory.games.alfworld.world import Game, HouseholdPlay

RESULT = Path(__file__).with_name("planner.json")


def main() -> None:
    result: dict[str, object] = {
        "alfworld": version("alfworld"),
        "fast_downward_textworld": version("fast_downward_textworld"),
        "generator": GENERATOR,
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ALFWORLD_DATA"] = folder  # importing alfworld makes that folder
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

        infos = textworld.EnvInfos(policy_commands=True)
        file = Path(folder) / "game.tw-pddl"
        for kind in TASK_TYPES:
            plans, written = [], []
            for number in range(10):
                data = make_household(kind, "valid_seen", number)
                file.write_text(json.dumps(data))
                plan = textworld.start(str(file), infos, wrappers=[AlfredDemangler]).reset()
                play = HouseholdPlay(Game(data))
                for command in plan["policy_commands"]:
                    assert play.send(command) is not None, (kind, number, command)
                assert play.won(), (kind, number)
                plans.append(len(plan["policy_commands"]))
                written.append(len(play.game.walkthrough))
            result[kind] = {
                "solved": len(plans),
                "mean commands of the planner": statistics.fmean(plans),
                "mean commands of the walkthrough": statistics.fmean(written),
            }
            print(kind, result[kind], flush=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

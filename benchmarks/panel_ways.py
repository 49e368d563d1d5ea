"""Play a panel in every possible way, and count the rows that differ.

    python -m benchmarks panel_ways              # measured.json
    python -m benchmarks panel_ways cooking-hard --player planner

Ways: any number of workers, the command ``run``, a Ray cluster, vector environments, and a run that
was killed halfway and started again. Times are left out of the comparison.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
from keep import measured, write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import Policy, make_policy
from gym_memory.core.names import Spec, specs
from gym_memory.panels.panel import load_panel
from gym_memory.run import EpisodeResult
from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.results.report import read_source

MEMORIES = ("none", "history", "arigraph")
WORKERS = (1, 2, 5)
LANES = 4

Played = dict[tuple[str, int], dict[str, Any]]
"""Memory and place in the panel to the row there, without times."""


def by_task(rows: Iterable[EpisodeRow]) -> Played:
    """Return rows by memory and place."""
    found: Played = {}
    for row in rows:
        record = row.to_json()
        for clock in EpisodeResult.CLOCKS:
            del record[clock]
        found[str(row.job.memory), row.job.seed] = record
    return found


def command(name: str, panel: str, player: str, memories: Iterable[str], out: Path) -> list[str]:
    """Return the words of a run on two workers."""
    words = [sys.executable, "-m", "gym_memory", name, "-e", f"panel:{panel}", "-p", player]
    words += [word for memory in memories for word in ("-m", memory)]
    seeds = f"0:{len(load_panel(panel).tasks)}"
    return [*words, "--seeds", seeds, "--workers", "2", "--out", str(out)]


def by_run(panel: str, player: str, out: Path) -> Played:
    """Play by ``gym-memory run``, which takes one memory at a time."""
    found: Played = {}
    for memory in MEMORIES:
        words = command("run", panel, player, [memory], out / memory)
        subprocess.run(words, check=True, capture_output=True)
        found |= by_task(read_source(out / memory).rows)
    return found


def after_kill(panel: str, player: str, out: Path) -> tuple[Played, int]:
    """Kill a run once a quarter is played and start it again; also return the rows kept."""
    words, rows = command("compare", panel, player, MEMORIES, out), out / "episodes.jsonl"
    quarter = len(load_panel(panel).tasks) * len(MEMORIES) // 4
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, start_new_session=True, **quiet)
    while process.poll() is None and _lines(rows) < quarter:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = _lines(rows)
    subprocess.run(words, check=True, **quiet)
    return by_task(read_source(out).rows), kept


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def by_vector(panel: str, player: str) -> Played:
    """Play each task once in vector environments; score, steps and success of each."""
    found: Played = {}
    for memory in MEMORIES:
        envs = gym.make_vec("gym_memory/Panel-v0", num_envs=LANES, panel=panel, memory=memory)
        lanes = [Lane(make_policy(player), place) for place in range(LANES)]
        obs, infos = envs.reset(seed=0, options={"stride": LANES})
        for number, lane in enumerate(lanes):
            lane.begin(_part(infos, number))
        while min(lane.place for lane in lanes) < len(load_panel(panel).tasks):
            actions = [
                "" if lane.ended else lane.player.act(_part(obs, number), lane.info)
                for number, lane in enumerate(lanes)
            ]
            envs.set_attr("plan", [lane.player.focus for lane in lanes])
            obs, _, terminated, truncated, infos = envs.step(actions)
            for number, lane in enumerate(lanes):
                if lane.ended:  # this step began the next game
                    lane.place += LANES
                    lane.begin(_part(infos, number))
                    continue
                lane.info, lane.steps = _part(infos, number), lane.steps + 1
                lane.ended = bool(terminated[number] or truncated[number])
                if lane.ended and not lane.info["panel_round"]:
                    found[memory, lane.place] = lane.result()
        envs.close()
    return found


@dataclasses.dataclass
class Lane:
    """A player in one of several environments, and the game that it plays."""

    player: Policy
    place: int
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    steps: int = 0
    ended: bool = False

    def begin(self, info: dict[str, Any]) -> None:
        """Begin the game of a place."""
        self.info, self.steps, self.ended = info, 0, False
        self.player.reset(info, seed=self.place)

    def result(self) -> dict[str, Any]:
        """Return the fields of this game's row."""
        found = {name: self.info[name] for name in ("task_id", "score", "success")}
        return {**found, "steps": self.steps}


def _part(parts: Mapping[str, Any], lane: int) -> dict[str, Any]:
    return {name: values[lane] for name, values in parts.items() if not name.startswith("_")}


def differing(expected: Played, found: Played) -> int:
    """Return the numbers of missing, additional and different rows."""
    other = expected.keys() ^ found.keys()
    both = (
        key
        for key in expected.keys() & found.keys()
        if any(found[key][name] != expected[key][name] for name in found[key])
    )
    return len(other) + sum(1 for _ in both)


def ways(panel: str, player: str, folder: Path) -> dict[str, dict[str, int]]:
    """Return the number of rows of each way, and how many differ from those of one worker."""
    env = Spec.of("Panel", {"panel": panel})
    seeds = tuple(range(len(load_panel(panel).tasks)))
    config = RunConfig((env,), specs(MEMORIES), specs((player,)), seeds)
    found = {
        f"compare, {n} worker{'s' * (n > 1)}": by_task(compare(config, folder / str(n), workers=n))
        for n in WORKERS
    }
    expected = next(iter(found.values()))
    found["run"] = by_run(panel, player, folder / "run")
    found["Ray"] = by_task(compare(config, folder / "ray", ray="local", workers=2))
    found[f"make_vec, {LANES} environments"] = by_vector(panel, player)
    rows, kept = after_kill(panel, player, folder / "kill")
    found[f"compare, killed with {kept} rows played"] = rows
    return {
        way: {"rows": len(rows), "differ": differing(expected, rows)} for way, rows in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("panel", nargs="?", default="multihop-qa")
    parser.add_argument("--player", default="reader")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = ways(given.panel, given.player, Path(folder))
    cited = f"{given.panel}@{load_panel(given.panel).digest}"
    record = {"panel": cited, "player": given.player, "ways": found}
    write_measured("panel_ways", {**measured("panel_ways"), given.panel: record})
    for way, counts in found.items():
        print(f"{way}: {counts['rows']} rows, {counts['differ']} differ", flush=True)


if __name__ == "__main__":
    main()

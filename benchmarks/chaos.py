"""Kill processes of a run at random; the run must equal a calm one.

    python benchmarks/chaos.py                  # 200 episodes, 20 kills; chaos.json
    python benchmarks/chaos.py --seeds 2 --kills 3 --out chaos-small.json   # a small one

Episodes over several backends are played on 4 workers, once undisturbed and once while a worker,
a Java process or the driver is killed (SIGKILL) at random moments. After the driver dies, the same
command goes on; episodes whose worker was killed count as failed, and ``--retry-failed`` plays
them again. In the end every job must be there exactly once, no episode failed, ``gym-memory
verify`` must find the folder whole, and all episodes must be equal but for their clocks.
tests/run/test_chaos.py is a small one whose kills come at known moments.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from subprocess import DEVNULL

from gym_memory.run import EpisodeResult
from gym_memory.run.results import read_episodes

HERE = Path(__file__).parent
ENVIRONMENTS = (
    "Cooking?level=rl-1&max_steps=30",
    "ScienceWorld?max_steps=30",
    "NetHack?max_steps=60",
    "Jericho?max_steps=20",
    "TreasureHunt?level=easy&max_steps=30",
)
MEMORIES = ("none", "arigraph")
POLICY = "random"
WORKERS = 4


def command(out: Path, seeds: int) -> list[str]:
    """The run as a user would start it."""
    words = [sys.executable, "-m", "gym_memory", "compare", "--retry-failed", "--out", str(out)]
    words += ["--seeds", f"0:{seeds}", "--workers", str(WORKERS), "--policy", POLICY]
    for env in ENVIRONMENTS:
        words += ["--env", env]
    for memory in MEMORIES:
        words += ["--memory", memory]
    return words


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    try:
        tasks = list(Path(f"/proc/{process}/task").glob("*/children"))
        return [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:  # it has ended
        return []


def victims(driver: int) -> dict[str, list[int]]:
    """Who can be killed."""
    found: dict[str, list[int]] = {"driver": [driver], "worker": [], "java": []}
    for worker in children(driver):
        try:
            line = Path(f"/proc/{worker}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in line:
            found["worker"].append(worker)
            found["java"] += children(worker)
    return found


def disturb(out: Path, seeds: int, kills: int, chance: random.Random) -> Counter[str]:
    """Play with kills; gives how many of each kind."""
    done: Counter[str] = Counter()
    while True:
        process = subprocess.Popen(command(out, seeds), stdout=DEVNULL, stderr=DEVNULL)
        next_kill = time.monotonic() + chance.uniform(1, 12)
        while process.poll() is None:
            time.sleep(0.05)
            if done.total() >= kills or time.monotonic() < next_kill:
                continue
            there = victims(process.pid)
            kinds = [kind for kind in ("worker", "worker", "java", "driver") if there[kind]]
            kind = chance.choice(kinds)
            try:
                os.kill(chance.choice(there[kind]), signal.SIGKILL)
            except ProcessLookupError:
                continue
            done[kind] += 1
            print(f"kill {done.total()}: {kind}", flush=True)
            next_kill = time.monotonic() + chance.uniform(2, 12)
        rows = [row for rows in read_episodes(out) for row in rows] if out.exists() else []
        jobs = seeds * len(ENVIRONMENTS) * len(MEMORIES)
        complete = len(rows) == jobs and not any(row.result.failed for row in rows)
        if complete and process.returncode == 0:
            return done


def table(out: Path) -> dict[str, dict[str, object]]:
    """All episodes by job, without what a clock wrote."""
    rows = [row for rows in read_episodes(out) for row in rows]
    assert len({row.job.key for row in rows}) == len(rows)
    return {
        str(row.job.key): {
            name: value for name, value in row.to_json().items() if name not in EpisodeResult.CLOCKS
        }
        for row in rows
    }


def main() -> None:
    """Play both, compare, keep the outcome."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the kills")
    parser.add_argument("--out", type=Path, default=HERE / "chaos.json")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    subprocess.run(
        command(folder / "calm", given.seeds), check=True, stdout=DEVNULL, stderr=DEVNULL
    )
    print("the calm run is finished", flush=True)
    chance = random.Random(given.seed)
    kills = disturb(folder / "killed", given.seeds, given.kills, chance)
    calm, killed = table(folder / "calm"), table(folder / "killed")
    checked = subprocess.run(
        [sys.executable, "-m", "gym_memory", "verify", str(folder / "killed")], stdout=DEVNULL
    )
    other = [key for key in calm if killed.get(key) != calm[key]]
    record = {
        "episodes": len(killed),
        "kills": dict(kills),
        "each_once": killed.keys() == calm.keys(),
        "verified": checked.returncode == 0,
        "different": other,
    }
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))
    if other:
        sys.exit(f"see {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

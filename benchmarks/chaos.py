"""Kill processes of runs at random; each run must equal an undisturbed one.

    python -m benchmarks chaos                      # 200 episodes, 20 kills; measured.json
    python -m benchmarks chaos --seeds 2 --kills 3 --out chaos-small.json   # a small one

Parts are `compare` on worker processes, `compare --ray local`, and `train`. Each runs once
undisturbed, and once while a worker, a Java process or the driver is killed (SIGKILL) at random
moments. After the driver dies, the same command continues the run; episodes whose worker was killed
count as failed, and ``--retry-failed`` plays them again. In the end every episode must be present
exactly once, ``gym-memory verify`` must find no fault, and all rows, recorded steps and tensors
must be equal except for times. tests/run/test_chaos.py kills at known moments.
"""

from __future__ import annotations

import argparse
import json
import math
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
from typing import Any

from keep import MEASURED, measured, write_measured

from gym_memory.core.tensors import read_tensors
from gym_memory.core.training_folder import BEST, LAST, TRAINING
from gym_memory.core.trajectory import read_trajectory
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
WORKERS = 2
PARTS = ("compare", "ray", "train")
TRAIN_OPTIONS = (
    "-e Fetch?level=easy&max_steps=20 --steps 5000 --games 3 --valid-games 2 --envs 3 "
    "--evaluate-every 150 --checkpoint-every 50 --set dim=8 --set hidden=8 --set vocabulary=512 "
    "--set batch=8 --set capacity=64 --set learn_start=40"
)


def command(out: Path, seeds: int, part: str = "compare") -> list[str]:
    """Return the command of the run, as a user would start it."""
    if part == "train":
        words = [sys.executable, "-P", "-m", "gym_memory", "train", "drrn", "--out", str(out)]
        return words + TRAIN_OPTIONS.split()
    words = [
        sys.executable,
        "-P",
        "-m",
        "gym_memory",
        "compare",
        "--retry-failed",
        "--out",
        str(out),
    ]
    words += ["--seeds", f"0:{seeds}", "--workers", str(WORKERS), "--policy", POLICY]
    words += ["--ray", "local"] if part == "ray" else []
    for env in environments(part):
        words += ["--env", env]
    for memory in MEMORIES:
        words += ["--memory", memory]
    return words


def environments(part: str) -> tuple[str, ...]:
    """Return the games of a part; under Ray those without subprocesses."""
    return ENVIRONMENTS[::4] if part == "ray" else ENVIRONMENTS


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        tasks = list(Path(f"/proc/{process}/task").glob("*/children"))
        return [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:  # it has ended
        return []


def victims(driver: int) -> dict[str, list[int]]:
    """Return the processes that can be killed."""
    found: dict[str, list[int]] = {"driver": [driver], "worker": [], "java": []}
    todo = children(driver)
    for process in todo:
        try:
            line = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in line or (
            line.startswith(b"ray::") and b"IDLE" not in line and b"Agent" not in line
        ):
            found["worker"].append(process)
        elif line.partition(b"\0")[0].endswith(b"java"):
            found["java"].append(process)
        todo += children(process)
    return found


def disturb(part: str, out: Path, seeds: int, kills: int, chance: random.Random) -> Counter[str]:
    """Play with kills; return the number of each kind."""
    done: Counter[str] = Counter()
    while True:
        process = subprocess.Popen(command(out, seeds, part), stdout=DEVNULL, stderr=DEVNULL)
        before, next_kill = written(out), math.inf
        while process.poll() is None:
            time.sleep(0.02)
            if next_kill == math.inf and written(out) != before:  # the run is in progress
                next_kill = time.monotonic() + chance.uniform(0, 5)
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
            print(f"{part}: kill {done.total()}: {kind}", flush=True)
            before, next_kill = written(out), math.inf
        if process.returncode == 0 and (part == "train" or complete(out, seeds, part)):
            return done


def written(out: Path) -> int:
    """Return the time at which a row or a checkpoint was last written."""
    files = [out / name for name in ("episodes.jsonl", TRAINING)]
    return max((file.stat().st_mtime_ns for file in files if file.exists()), default=0)


def complete(out: Path, seeds: int, part: str) -> bool:
    """True if all episodes are present and none has failed."""
    rows = [row for rows in read_episodes(out) for row in rows]
    jobs = seeds * len(environments(part)) * len(MEMORIES)
    return len(rows) == jobs and not any(row.result.failed for row in rows)


def table(out: Path) -> dict[str, dict[str, object]]:
    """Return all episodes by job, without clocks."""
    rows = [row for rows in read_episodes(out) for row in rows]
    assert len({row.job.key for row in rows}) == len(rows)
    return {
        str(row.job.key): {
            name: value for name, value in row.to_json().items() if name not in EpisodeResult.CLOCKS
        }
        for row in rows
    }


def steps(out: Path) -> dict[str, object]:
    """Return all recorded steps, by file."""
    return {
        path.name: [(t.task, t.steps, t.outcome) for t in read_trajectory(path)]
        for path in sorted((out / "steps").glob("*.jsonl.gz"))
    }


def trained(out: Path) -> dict[str, object]:
    """Return all tensors of a training and its curve, without clocks."""
    found: dict[str, object] = {}
    for file in (LAST, BEST, TRAINING):
        tensors, record = read_tensors(out / file)
        found |= {f"{file} {name}": tensor.numpy().tobytes() for name, tensor in tensors.items()}
        found[f"{file} memories"] = record.get("slots")
        curve = record.get("curve", [])
        found[f"{file} curve"] = [{**row, "cpu_seconds": 0} for row in curve]
    return found


def play(part: str, folder: Path, seeds: int, kills: int, chance: random.Random) -> dict[str, Any]:
    """Play a part both ways; return the equal parts."""
    calm, killed = folder / f"{part}-calm", folder / f"{part}-killed"
    subprocess.run(command(calm, seeds, part), check=True, stdout=DEVNULL, stderr=DEVNULL)
    print(f"{part}: the calm run is finished", flush=True)
    done = disturb(part, killed, seeds, kills, chance)
    readers = (trained,) if part == "train" else (table, steps)
    record: dict[str, Any] = {"kills": dict(done)}
    different: list[str] = []
    for read in readers:
        one, other = read(calm), read(killed)
        record[{"trained": "tensors", "table": "episodes"}.get(read.__name__, "files")] = len(one)
        different += [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
    words = [sys.executable, "-P", "-m", "gym_memory", "verify", str(killed)]
    verified = subprocess.run(words, stdout=DEVNULL).returncode == 0
    return {**record, "verified": verified, "different": sorted(different)}


def main() -> None:
    """Play all parts and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20, help="over all parts")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seed", type=int, default=0, help="of the kills")
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    record = measured("chaos", given.out)
    for n, part in enumerate(given.parts):
        chance = random.Random(f"{given.seed} {part}")
        kills = (given.kills + n) // len(given.parts)
        record[part] = play(part, folder, given.seeds, kills, chance)
        write_measured("chaos", record, given.out)
    print(json.dumps(record, indent=1))
    if not all(r["verified"] and not r["different"] for r in record.values()):
        sys.exit(f"see {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

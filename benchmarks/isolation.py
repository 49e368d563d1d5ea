"""Play mutated story files in isolation: each may cost only its own episode.

    python -m benchmarks isolation                       # 1,000 stories; measured.json
    python -m benchmarks isolation --stories 50 --out x.json

Bytes of a compiled story behind its header are replaced at random and the checksum is made right,
so that the interpreter, which trusts its input, runs it. A story is played for some random valid
actions; then the intact one must play as before.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from keep import MEASURED, write_measured

from gym_memory.core.errors import BackendError, GymMemoryError
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.isolate import IsolatedEnv
from gym_memory.games.textworld.games import cached_story

HERE = Path(__file__).parent
STEPS = 8
STEP_SECONDS = 5.0


def mutated(story: bytes, chance: random.Random) -> bytes:
    """Return a story with some bytes replaced and a right checksum."""
    out = bytearray(story)
    for _ in range(chance.choice((1, 4, 16, 64))):
        out[chance.randrange(64, len(out))] = chance.randrange(256)
    length = int.from_bytes(out[0x1A:0x1C], "big") * {3: 2, 4: 4, 5: 4, 8: 8}[out[0]]
    out[0x1C:0x1E] = (sum(out[64:length]) % 0x10000).to_bytes(2, "big")
    return bytes(out)


def play(env: Any, task: str, chance: random.Random) -> list[str]:
    """Return the texts of some steps."""
    obs, info = env.reset(seed=0, options={"task_id": task})
    texts = [obs["text"]]
    for _ in range(STEPS):
        if info["won"] or info["lost"]:
            break
        action = chance.choice(obs["valid_actions"] or ("look",))
        obs, _, terminated, truncated, info = env.step(action)
        texts.append(obs["text"])
        if terminated or truncated:
            break
    return texts


def overhead() -> dict[str, float]:
    """Return the median milliseconds of a step of Cooking here and in isolation."""
    times: dict[str, list[float]] = {"here": [], "isolated": []}
    here = ENVIRONMENTS.get("Cooking")(level="rl-1")
    isolated = IsolatedEnv("Cooking", {"level": "rl-1"})
    for seed in range(4):
        chance = random.Random(seed)
        obs, _ = here.reset(seed=seed)
        isolated.reset(seed=seed)
        done = False
        while not done:
            action = chance.choice(obs["valid_actions"])
            for name, env in (("here", here), ("isolated", isolated)):
                started = time.perf_counter()
                obs, _, terminated, truncated, _ = env.step(action)
                times[name].append(time.perf_counter() - started)
            done = terminated or truncated
    isolated.close()
    return {f"step_ms_{name}": round(1000 * median(own), 3) for name, own in times.items()}


def main() -> None:
    """Play all and keep the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=1000)
    parser.add_argument("--step-seconds", type=float, default=STEP_SECONDS, help="more if busy")
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    source = resources.files("gym_memory.games.jericho").joinpath("tide_mill.ni")
    story = cached_story("jericho", source.read_text(encoding="utf-8"))
    folder = Path(tempfile.mkdtemp(prefix="isolation-"))
    chance = random.Random(0)
    shutil.copy(story, folder / "intact.z8")
    for n in range(given.stories):
        (folder / f"m{n:04}.z8").write_bytes(mutated(story.read_bytes(), chance))
    limits = {"step_s": given.step_seconds, "reset_s": 12 * given.step_seconds}
    env = IsolatedEnv("Jericho", {"path": str(folder)}, **limits)
    intact = next(task for task in env.task_ids if "intact" in task)
    calm = play(env, intact, random.Random(1))
    how: Counter[str] = Counter()
    for task in env.task_ids:
        if task == intact:
            continue
        try:
            texts = play(env, task, random.Random(2))
            how["played as before" if texts[0] == calm[0] else "played otherwise"] += 1
        except BackendError as error:
            how[str(error).partition(": ")[2] or str(error)] += 1
        except GymMemoryError:
            how["refused"] += 1
        if how.total() % 50 == 0:
            assert play(env, intact, random.Random(1)) == calm
    assert play(env, intact, random.Random(1)) == calm
    env.close()
    shutil.rmtree(folder)
    record = {"stories": given.stories, "episodes": dict(how.most_common()), **overhead()}
    assert how.total() == given.stories
    write_measured("isolation", record, given.out)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()

"""Play language agents, learners and rules on the same games in one loop.

    python -m benchmarks agents/beside          # writes beside.json
    python benchmarks/tables.py                 # the tables of docs/results/llm-beside-rl.md

It forms LDM2's examples, starts the scripted chat server and plays unseen games, on all cores or as
many as WORKERS says; the learners are the shipped ones (``agents/trained``). If interrupted, run it
again. With ``GYM_MEMORY_MODEL`` and ``OPENAI_BASE_URL`` set, that model plays instead of the
scripted server.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gym_memory.baselines.rl.players import SHIPPED
from gym_memory.core.names import Spec
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig, parse_seeds
from gym_memory.run.results.score import grouped, units
from gym_memory.testing.chat import ScriptedServer

OUT = Path("results/beside")
WORKERS = int(os.environ.get("WORKERS", os.cpu_count() or 1))
GAME = "Cooking?gata_actions=true&level=rl-4"
TEST = f"{GAME}&max_steps=100&split=test"
MEMORIES = ("none", "history", "arigraph")
LEARNERS = sorted(path.stem for path in SHIPPED.glob("*.safetensors"))
SEEDS, FEW = "0:10", "0:5"
STORE = OUT / "examples.db"
RULES = ("planner", "random", "saycan", "adaplanner", "symbolic")
AGENTS = ("ariadne", "stma", "react", "plain", "adaplanner?llm=openai")
PAIRS = (
    ("stma", "stma"), (f"ldm2?learn=false&store={STORE}", "ldm2"), ("arigraph", "calm"),
    *(("arigraph", f"{learner}?checkpoint=shipped") for learner in LEARNERS),
)  # fmt: skip
"""Policies with one memory: that of the paper, or of the training."""
TRIALS = (
    ("none", "reflexion"), ("clin?inner=none", "clin"), ("arigraph", "saycan"),
    ("arigraph", "symbolic"),
)  # fmt: skip
"""Memories and policies that learn from trial to trial."""


def command(*words: str) -> None:
    """Run gym-memory."""
    subprocess.run(["gym-memory", *words], check=True, stdout=subprocess.DEVNULL)


def prepare() -> None:
    """Form the examples, unless they are there."""
    if not STORE.exists():
        shown = ("-m", "none", "-p", "walkthrough", "--seeds", "0:20", "--out", str(OUT / "shown"))
        command("run", "-e", f"{GAME}&split=train", *shown)
        command("ldm2", "form", str(OUT / "shown" / "steps"), "-m", f"ldm2?store={STORE}")


def parts() -> Iterator[tuple[Sequence[str], Sequence[str], str, str]]:
    """Yield memories, policies, seeds and protocol of each comparison."""
    yield MEMORIES, (*RULES, *AGENTS), SEEDS, "single_episode"
    for memory, policy in PAIRS:
        yield (memory,), (policy,), SEEDS, "single_episode"
    for memory, policy in TRIALS:
        yield (memory,), (policy,), FEW, "trials?k=3"


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Yield the model's name; this process serves it if the environment names none."""
    if "GYM_MEMORY_MODEL" in os.environ:
        yield os.environ["GYM_MEMORY_MODEL"]
        return
    with ScriptedServer() as server:
        os.environ |= {"GYM_MEMORY_MODEL": "scripted", "OPENAI_BASE_URL": server.base_url}
        yield "scripted"


def decides_by(policy: str) -> str:
    """Return the source of a policy's actions."""
    if policy in (*RULES, "calm"):
        return "rules"
    name = Spec(policy).name
    return "cloning" if name == "text" else "reward" if name in LEARNERS else "language model"


def play() -> list[dict[str, Any]]:
    """Return a row for each memory and policy: the score of every game, and of its first trial."""
    rows = []
    for number, (memories, policies, seeds, protocol) in enumerate(parts()):
        config = RunConfig((TEST,), tuple(memories), tuple(policies), parse_seeds(seeds), protocol)
        played = units(compare(config, OUT / f"play-{number}", workers=WORKERS))
        assert not any(unit.failed for unit in played), played
        for (memory, policy), own in grouped(played, lambda unit: unit[2:4]).items():
            rows.append({
                "protocol": protocol,
                "memory": Spec(memory).name,
                "policy": Spec(policy).name,
                "by": decides_by(policy),
                "first": [round(unit.trials[0], 4) for unit in own],
                "last": [round(unit.trials[-1], 4) for unit in own],
            })  # fmt: skip
    return rows


def main() -> None:
    """Play and write."""
    os.environ["OMP_NUM_THREADS"] = "1"
    prepare()
    with served() as model:
        rows = play()
    head = json.dumps({"game": TEST, "model": model})
    lines = ",\n".join(map(json.dumps, rows))
    text = f'{{"about": {head},\n"rows": [\n{lines}\n]}}\n'
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

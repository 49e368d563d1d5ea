"""Play language agents, learners and rules on the same games in one loop, from nothing.

    python -m benchmarks agents/beside          # writes beside.json
    python -m benchmarks agents/beside real     # writes real.json: SmolLM2, some 20 CPU minutes
    python benchmarks/tables.py                 # the tables of docs/results/llm-beside-rl.md

It forms LDM2's examples, starts the scripted chat server and plays unseen games, on all cores or
as many as WORKERS says; the learners are those that ship (``agents/trained``). If interrupted, run
it again. With ``GYM_MEMORY_MODEL`` and ``OPENAI_BASE_URL`` set, that model plays instead of the
scripted server.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gym_memory.baselines.rl.shared.checkpoints import SHIPPED
from gym_memory.core.names import parse_spec
from gym_memory.run.compare import compare
from gym_memory.run.jobs import RunConfig, parse_seeds
from gym_memory.run.results.score import grouped, units
from gym_memory.testing.chat import ScriptedServer

OUT = Path("results/beside")
WORKERS = int(os.environ.get("WORKERS", os.cpu_count() or 1))
GAME = "Cooking?gata_actions=true&level=rl-4"
TEST = f"{GAME}&max_steps=100&split=test"
MEMORIES = ("none", "history", "arigraph")
LEARNERS = sorted(path.stem for path in SHIPPED.glob("*.safetensors"))
SEEDS = "0:10"
STORE = OUT / "examples.db"
RULES = ("planner", "random", "saycan", "adaplanner", "symbolic")
AGENTS = ("ariadne", "stma", "react", "plain", "adaplanner?llm=openai")
PAIRS = (
    ("stma", "stma"), (f"ldm2?learn=false&store={STORE}", "ldm2"), ("arigraph", "calm"),
    *(("arigraph", f"{learner}?checkpoint=shipped") for learner in LEARNERS),
)  # fmt: skip
"""Memory and policy of what plays with one memory: its paper's, or that of its training."""
TRIALS = (
    ("none", "reflexion"), ("clin?inner=none", "clin"), ("arigraph", "saycan"),
    ("arigraph", "symbolic"),
)  # fmt: skip
"""Memory and policy of what learns from trial to trial."""
REAL = ("ariadne?constrain=true&model=smollm", "plain?constrain=true&model=smollm",
        "choose?model=smollm", "planner", "random")  # fmt: skip
"""What plays with a real model, and beside it, in shorter games."""

Part = tuple[str, Sequence[str], Sequence[str], str, str]


def command(*words: str) -> None:
    """Run gym-memory."""
    subprocess.run(["gym-memory", *words], check=True, stdout=subprocess.DEVNULL)


def prepare() -> None:
    """Form the examples, unless they are there."""
    if not STORE.exists():
        shown = ("-m", "none", "-p", "walkthrough", "--seeds", "0:20", "--out", str(OUT / "shown"))
        command("run", "-e", f"{GAME}&split=train", *shown)
        command("ldm2", "form", str(OUT / "shown" / "steps"), "-m", f"ldm2?store={STORE}")


def parts(*, real: bool = False) -> Iterator[Part]:
    """Yield environment, memories, policies, seeds and protocol of each comparison."""
    if real:
        yield TEST.replace("100", "25"), ("arigraph",), REAL, "0:5", "single_episode"
        return
    yield TEST, MEMORIES, (*RULES, *AGENTS), SEEDS, "single_episode"
    for memory, policy in PAIRS:
        yield TEST, (memory,), (policy,), SEEDS, "single_episode"
    for memory, policy in TRIALS:
        yield TEST, (memory,), (policy,), SEEDS, "trials?k=3"


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Yield the model's name, served by this process where the environment names none."""
    if "GYM_MEMORY_MODEL" in os.environ:
        yield os.environ["GYM_MEMORY_MODEL"]
        return
    with ScriptedServer() as server:
        os.environ |= {"GYM_MEMORY_MODEL": "scripted", "OPENAI_BASE_URL": server.base_url}
        yield "scripted"


def decides_by(policy: str) -> str:
    """Return what chooses the actions of a policy: rules, reward or a language model."""
    if policy in (*RULES, "calm"):
        return "rules"
    if "smollm" in policy:
        return "SmolLM2-135M"
    return "reward" if parse_spec(policy).name in LEARNERS else "language model"


def play(name: str) -> list[dict[str, Any]]:
    """Return a row a memory and policy, with the score of every game, and of its first trial."""
    rows = []
    for number, (env, memories, policies, seeds, protocol) in enumerate(parts(real=name == "real")):
        config = RunConfig((env,), tuple(memories), tuple(policies), parse_seeds(seeds), protocol)
        played = units(compare(config, OUT / f"{name}-{number}", workers=WORKERS))
        assert not any(unit.failed for unit in played), played
        for (memory, policy), own in grouped(played, lambda unit: unit[2:4]).items():
            rows.append({
                "protocol": protocol,
                "memory": parse_spec(memory).name,
                "policy": parse_spec(policy).name,
                "by": decides_by(policy),
                "first": [round(unit.trials[0], 4) for unit in own],
                "last": [round(unit.trials[-1], 4) for unit in own],
            })  # fmt: skip
    return rows


def main() -> None:
    """Play and write."""
    os.environ["OMP_NUM_THREADS"] = "1"
    name = "real" if "real" in sys.argv else "beside"
    if name == "beside":
        prepare()
    with served() as model:
        rows = play(name)
    game, *_ = next(parts(real=name == "real"))
    head = json.dumps({"game": game, "model": model})
    lines = ",\n".join(map(json.dumps, rows))
    text = f'{{"about": {head},\n"rows": [\n{lines}\n]}}\n'
    Path(__file__).with_name(f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

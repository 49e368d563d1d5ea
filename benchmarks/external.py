"""Play and examine memories of other authors beside ours, with scripted answers of the model.

Every memory plays the same seeds with the same planner and budget. `mem0`, `graphiti` and `langmem`
are the authors' packages with their real stores, `amem_package` is a fork of A-MEM's code; the
scripted server answers their prompts over HTTP by our plain reader. So the numbers measure their
stores and searches on equal facts, and their cost; a language model would extract better or worse.

The budgets are equal, but their use differs: `mem0`, `graphiti` and `langmem` show ten sentences by
default, about a fifth of the budget. None of the four has typed facts for the planner. So their
rows do not judge these systems.

The exam plays episodes once, replays them into each memory and counts the questions that a recall
answers rightly, wrongly, or with unseen facts. The time of a step is in milliseconds of this
machine and in multiples of `arigraph`'s. It is rough, because waiting for the server and the disk
counts.

Run in the root of the repository, with `packages/external` installed::

    OMP_NUM_THREADS=1 python -m benchmarks external

It writes ``external.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path

from gym_memory.baselines.base import make_policy
from gym_memory.core.names import Spec
from gym_memory.evaluate.exam import ExamConfig, exam_scores, examine
from gym_memory.evaluate.exam.scores import ALL
from gym_memory.run.loop import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers.make import make_env

ENV = "TreasureHunt?level=easy&split=test&max_steps=30"
THEIRS = ("mem0", "graphiti", "langmem", "amem_package")
OURS = ("arigraph", "rag", "amem", "history")
BUDGET = 500


def main() -> None:
    """Play and examine every memory, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    given = parser.parse_args()
    if importlib.util.find_spec("gym_memory_external") is None:
        parser.error("expected gym_memory_external: pip install './packages/external[mem0]'")
    from gym_memory_external.scripted import answer_prompts

    answer_prompts()
    started = time.process_time()
    heads = ["memory", "score", "failed", "calls", "model tokens", "recall tokens"]
    heads += ["exam right", "wrong", "unproven", "ms a step", "of `arigraph`"]
    rows: dict[str, list[str]] = {}
    times: dict[str, float] = {}
    name, kwargs = Spec(ENV).parts
    with ScriptedServer() as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        memories = {short: Spec.of(short, {"llm": llm}) for short in THEIRS}
        for short, memory in {**memories, **{short: short for short in OURS}}.items():
            results = []
            for seed in range(given.seeds):
                env = make_env(name, memory=memory, budget=BUDGET, **kwargs)
                results.append(rollout(env, make_policy("planner"), seed))
                env.close()
            config = ExamConfig(
                (ENV,), (memory,), ("planner",), tuple(range(given.seeds)), (BUDGET,), (30,),
                wordings=("unseen",),
            )  # fmt: skip
            marks = exam_scores(list(examine(config)))
            exam = next(mark for mark in marks if mark.kind == ALL)
            counts = [r.counters for r in results]
            used = sum(
                c.get("llm_prompt_tokens", 0) + c.get("llm_completion_tokens", 0) for c in counts
            )
            rows[short] = [
                f"`{short}`",
                f"{sum(r.value for r in results) / len(results):.2f}",
                f"{sum(bool(r.failed) for r in results)} of {len(results)}",
                f"{sum(c.get('llm_calls', 0) for c in counts):.0f}",
                f"{used:.0f}",
                f"{sum(r.tokens for r in results) / len(results):.0f}",
                *(f"{share:.2f}" for share in (exam.right, exam.wrong, exam.unproven)),
            ]
            times[short] = sum(r.memory_ms for r in results) / len(results)
            print(*rows[short], f"{times[short]:.1f} ms", flush=True)
    minutes = (time.process_time() - started) / 60
    write(given.out, given.seeds, minutes, heads, rows, times)


def write(
    out: Path,
    seeds: int,
    minutes: float,
    heads: list[str],
    rows: dict[str, list[str]],
    times: dict[str, float],
) -> None:
    """Write the page."""
    lines = [heads, ["---"] * len(heads)]
    for short, row in rows.items():
        lines.append([*row, f"{times[short]:.1f}", f"{times[short] / times['arigraph']:.1f}"])
    about = (__doc__ or "").partition("\n\nRun in")[0]
    size = f"`{ENV}`, {seeds} seeds, planner, {BUDGET} tokens, {minutes:.1f} CPU minutes."
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    out.write_text(f"# {about}\n\n{size}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

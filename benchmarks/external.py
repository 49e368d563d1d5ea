"""Play and examine memories of other authors beside ours, with scripted answers of the model.

Every memory plays the same seeds with the same planner and budget. `mem0` and `graphiti` are the
authors' packages with their real stores; the scripted server answers their prompts over HTTP by
our plain reader. So the numbers show what their stores and searches keep of equal facts, and what
they cost; a language model would extract better or worse.

The budget is equal, its use is not: `mem0` and `graphiti` show ten texts by default, about a fifth
of the budget, and no typed facts for the planner. Their rows are no verdict on these systems.

The exam plays episodes once, replays them into each memory and counts the questions that a recall
answers rightly, wrongly, or with what it never saw.

Run in the root of the repository, with `packages/external` installed::

    OMP_NUM_THREADS=1 python -m benchmarks external

It writes ``external.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path

from gym_memory.baselines.registry import make_policy
from gym_memory.core.names import format_spec, parse_spec
from gym_memory.evaluate.exam import ExamConfig, exam_scores, examine
from gym_memory.evaluate.exam.scores import ALL
from gym_memory.run.loop import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers.make import make_env

ENV = "TreasureHunt?level=easy&split=test&max_steps=30"
THEIRS = ("mem0", "graphiti")
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
    heads = ["memory", "score", "failed", "calls", "model tokens", "recall tokens", "ms a step"]
    heads += ["exam right", "wrong", "unproven"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    name, kwargs = parse_spec(ENV)
    with ScriptedServer() as server:
        llm = format_spec("openai", {"model": "scripted", "base_url": server.base_url})
        memories = {short: format_spec(short, {"llm": llm}) for short in THEIRS}
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
            cells = [
                f"`{short}`",
                f"{sum(r.value for r in results) / len(results):.2f}",
                f"{sum(bool(r.failed) for r in results)} of {len(results)}",
                f"{sum(c.get('llm_calls', 0) for c in counts):.0f}",
                f"{used:.0f}",
                f"{sum(r.tokens for r in results) / len(results):.0f}",
                f"{sum(r.memory_ms for r in results) / len(results):.1f}",
                *(f"{share:.2f}" for share in (exam.right, exam.wrong, exam.unproven)),
            ]
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    minutes = (time.process_time() - started) / 60
    about = (__doc__ or "").partition("\n\nRun in")[0]
    size = f"`{ENV}`, {given.seeds} seeds, planner, {BUDGET} tokens, {minutes:.1f} CPU minutes."
    given.out.write_text(f"# {about}\n\n{size}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure which memory finds the passages of an answer, without any language model.

Every question is played in ``MultiHopQA``: all passages are read in the order of the file, then
``look`` is the step at which the memory recalls, with the question as the policy's focus.

* ``recall@k``: share of the supporting passages among the first k observations recalled (an
  unlimited budget). ``all@5``: share of questions with all of them among the first five.
* ``facts@1000``: share of the supporting sentences that are whole in a recall of 1,000 tokens.
  ``answer@1000``: share of questions with their answer in it.
* ``recall@5 by half``: of the first and the second half of the file. ``episodic_score=relevance``
  was developed on the first half only.
* ``ms``: CPU milliseconds a question for all updates and the recall at 1,000 tokens, with the
  texts' vectors cached by a first pass.

Run (missing sets are left out)::

    OMP_NUM_THREADS=1 python benchmarks/qa/retrieval.py --out benchmarks/qa/retrieval.json \
        --file hotpotqa=hotpot_100.jsonl --file musique=musique_100.jsonl
    ... --out benchmarks/qa/halves.json --memory "rag, MiniLM" \
        --memory "arigraph, relevance, MiniLM"
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory import __version__
from gym_memory.core.records import Cue
from gym_memory.games.qa import MultiHopQA
from gym_memory.games.qa.datasets import Question, normalize_answer, read_questions
from gym_memory.games.qa.env import PassageSearch
from gym_memory.wrappers import MemoryObservation

DEPTHS = (2, 5, 10)
BUDGET, ALL = 1000, 50_000
HIDDEN = ("dataset", "memory", "n", "data", "recall@5 by half")
GRAPH = "arigraph?recall=semantic&recent=0&episodes=10"
MEMORIES = {
    "bm25": "",
    "history": "history?window=10",
    "rag, hash": "rag?by=hash&k=10&order=rank",
    "rag, MiniLM": "rag?by=onnx&k=10&order=rank",
    "simulacra, MiniLM": "simulacra?k=10&recent=0&encoder=onnx",
    "stma, MiniLM": "stma?encoder=onnx",
    "summary": "summary",
    "arigraph, structural": "arigraph?recent=0&episodes=10",
    "arigraph, eq. 1, MiniLM": f"{GRAPH}&encoder=onnx",
    "arigraph, authors' code, MiniLM": f"{GRAPH}&encoder=onnx&episodic_score=code",
    "arigraph, relevance, hash": f"{GRAPH}&encoder=hash&episodic_score=relevance",
    "arigraph, relevance, MiniLM": f"{GRAPH}&encoder=onnx&episodic_score=relevance",
    "arigraph, relevance, MiniLM, passages only": (
        f"{GRAPH}&encoder=onnx&episodic_score=relevance&semantic=false&exploration=false"
    ),
    "oracle": "oracle",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("benchmarks/qa/retrieval.json"))
    parser.add_argument("--file", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--memory", action="append", choices=MEMORIES)
    arguments = parser.parse_args()
    sets = {"isles": None, **dict(pair.split("=", 1) for pair in arguments.file)}
    rows: list[dict[str, Any]] = []
    for dataset, path in sets.items():
        for label in arguments.memory or MEMORIES:
            row = measure(label, path)
            rows.append({"dataset": dataset, "memory": label, **row})
            print(json.dumps(rows[-1]), flush=True)
    record = {
        "command": "python benchmarks/qa/retrieval.py, see its docstring",
        "gym_memory": __version__,
        "python": platform.python_version(),
        "budget_tokens": BUDGET,
        "memories": {label: spec for label, spec in MEMORIES.items() if spec},
        "rows": rows,
    }
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(record))


def measure(label: str, path: str | None) -> dict[str, Any]:
    raw = MultiHopQA(path=path, max_steps=1000)
    spec = MEMORIES[label]
    env = MemoryObservation(raw, memory=spec, budget=BUDGET) if spec else None
    results, spent = [], 0.0
    order = {q.id: i for i, q in enumerate(read_questions(path))} if path else {}
    halves: tuple[list[float], list[float]] = ([], [])
    for task_id in raw.task_ids:
        if env is None:
            raw.reset(options={"task_id": task_id})
            started = time.process_time()
            found, shown = by_bm25(raw.question)
        else:
            read(env, task_id)  # fills the cache of vectors
            started = time.process_time()
            shown = read(env, task_id)
            found = recalled(env, raw.question)
        spent += time.process_time() - started
        results.append(scores(raw.question, found, shown))
        if order:
            halves[order[raw.question.id] >= len(order) // 2].append(results[-1][1])
    means = np.mean(results, axis=0)
    names = [*(f"recall@{k}" for k in DEPTHS), "all@5", f"facts@{BUDGET}", f"answer@{BUDGET}"]
    return {
        "n": len(results),
        **{name: round(float(value), 3) for name, value in zip(names, means, strict=True)},
        "ms": round(spent / len(results) * 1e3, 1),
        "recall@5 by half": [round(float(np.mean(half)), 3) for half in halves if half],
        "data": raw.versions(),
    }


def read(env: MemoryObservation, task_id: str) -> str:
    """Read every passage, look at the question; return the recall."""
    obs, _ = env.reset(seed=0, options={"task_id": task_id})
    while "read next" in obs["valid_actions"]:
        obs, *_ = env.step("read next")
    env.set_focus(obs["task"])
    return str(env.step("look")[0]["memory"])


def recalled(env: MemoryObservation, question: Question) -> list[int]:
    """Return the positions of the recalled passages without a budget."""
    positions: dict[str, int] = {}
    for i, passage in enumerate(question.passages):
        positions.setdefault(passage.text, i)
    cue = Cue(question.text, question.text, focus=question.text)
    episodes = env.memory.recall(cue, ALL).episodes
    return [positions[text] for text in episodes if text in positions]


def by_bm25(question: Question) -> tuple[list[int], str]:
    texts = [passage.text for passage in question.passages]
    order = PassageSearch(texts).ranked(question.text)
    return order, "\n".join(texts[i] for i in order)[: BUDGET * 4]


def scores(question: Question, found: list[int], shown: str) -> list[float]:
    supporting = set(question.supporting)
    at = [len(supporting & set(found[:k])) / len(supporting) for k in DEPTHS]
    shown = " ".join(shown.split())
    sentences = [
        " ".join(passage.sentences[i].split())
        for passage in question.passages
        for i in passage.supporting
    ]
    facts = sum(sentence in shown for sentence in sentences) / len(sentences)
    text = f" {normalize_answer(shown)} "
    answer = any(f" {normalize_answer(right)} " in text for right in question.accepted)
    return [*at, float(at[1] == 1.0), facts, float(answer)]


def table(record: dict[str, Any]) -> str:
    columns = [key for key in record["rows"][0] if key not in HIDDEN]
    lines = ["# Retrieval without a language model", ""]
    for dataset in dict.fromkeys(row["dataset"] for row in record["rows"]):
        rows = [row for row in record["rows"] if row["dataset"] == dataset]
        lines += [f"## {dataset}, {rows[0]['n']} questions", ""]
        lines += ["| memory | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
        for row in rows:
            cells = [f"{row[c]:.1f}" if c == "ms" else f"{row[c]:.2f}" for c in columns]
            lines.append(f"| {row['memory']} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

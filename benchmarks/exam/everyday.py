"""Ask the 60 hand-written questions of everyday.json, and grade the recalls.

    python -m benchmarks exam/everyday --write

A question of the file names one of the exam's own by its kind and fields, so that the engine's
truth is its answer. Writes ``everyday_rows.json``, one row for a memory and question.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gym_memory.evaluate.exam import KINDS, Account, ExamQuestion, record
from gym_memory.evaluate.exam.questions import QuestionText
from gym_memory.evaluate.exam.session import answer_questions
from gym_memory.memory.base import make_memory
from gym_memory.run.config import Job
from gym_memory.wrappers.memory import DEFAULT_MEMORY

HERE = Path(__file__).parent
EPISODES: list[dict[str, Any]] = json.loads((HERE / "everyday.json").read_text("utf-8"))
ROWS = HERE / "everyday_rows.json"
MEMORIES = ("arigraph", "stma?size=16000", "summary?size=16000", "rag", "history")


def in_words(account: Account, text: str, kind: str, **fields: Any) -> ExamQuestion:
    """Return the one question of a kind with these fields, in these words."""
    wanted = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    for question in KINDS[kind].make(account, random.Random(0)):
        if all(getattr(question, name) == value for name, value in wanted.items()):
            return dataclasses.replace(question, text=QuestionText(everyday=text))
    raise LookupError(f"expected a question of kind {kind!r} with {fields}; the episode has none")


def rows(episode: dict[str, Any], memories: Sequence[str], budget: int) -> Iterator[dict[str, Any]]:
    """Play an episode once, and yield the verdict of each memory on each of its questions."""
    seed, step = episode["seed"], episode["step"]
    recording = record(Job(episode["env"], DEFAULT_MEMORY, episode["policy"], seed))
    account = Account(recording.moments[: step + 1])
    questions = [in_words(account, **question) for question in episode["questions"]]
    for memory in memories:
        sheets = {step: (step, account, questions)}
        answers = answer_questions(make_memory(memory), recording, sheets, [budget], ["everyday"])
        for _, question, _, _, tokens, verdict in answers:
            yield {
                "memory": memory, "kind": question.kind, "question": question.text.everyday,
                "answer": question.answer, "verdict": verdict, "tokens": tokens,
                "env": episode["env"], "seed": seed,
            }  # fmt: skip


def main() -> None:
    """Ask all memories; print the shares of right answers and the questions that arigraph fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the rows")
    parser.add_argument("--budget", type=int, default=500)
    args = parser.parse_args()
    found = [row for episode in EPISODES for row in rows(episode, MEMORIES, args.budget)]
    for memory in MEMORIES:
        verdicts = [row["verdict"] for row in found if row["memory"] == memory]
        print(f"{memory:20} {verdicts.count('right')} of {len(verdicts)} right")
    for row in found:
        if (row["memory"], row["verdict"] != "right") == (MEMORIES[0], True):
            print(f"{row['verdict']}: {row['kind']}: {row['question']} ({row['answer']})")
    if args.write:
        first = json.dumps(json.loads(ROWS.read_text("utf-8"))["first"])
        lines = ",\n".join(json.dumps(row) for row in found)
        ROWS.write_text(f'{{"first": {first},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()

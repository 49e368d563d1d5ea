"""LDM2's memory formation: from recorded trajectories to indexed tuples (3.2, Eqs. 1, 6 to 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.trajectory import Trajectory
from gym_memory.extract import get_extractor
from gym_memory.memory.ldm2.index import Addition, Entry, Example, Process
from gym_memory.memory.roles import Cluster, EvaluateSubgoals, Subgoal, Summarize

__all__ = ["LONGEST", "Historian", "choose", "clipped", "evaluate", "examples_of", "form"]
__all__ += ["score_of", "summarize"]

LONGEST = 512
"""Steps of a process that are looked at; what lies further back is forgotten."""
_TEXT = 1500
_ACTION = 300
_LATEST_ACTIONS = 10
_SUBGOALS = 12
_SUBGOAL = 160
_SUMMARY = 600
_ENOUGH = 0.75
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_CLAUSE = re.compile(r"[.;!?\n]+|,? (?:and then|then|and) ")
_DIRECTIONS = re.compile(
    r"^[ \t]*(?:directions|instructions|steps|method)[ \t]*:[ \t]*\n"
    r"((?:[ \t]*[^\s:][^\n:]*(?:\n|$))+)",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSED = re.compile(
    r"\b(?:can't|cannot|not|nothing happens|isn't|don't|doesn't)\b", re.IGNORECASE
)
_SMALL = frozenset({
    "a", "an", "the", "you", "your", "it", "to", "of", "in", "on", "at", "with", "from", "some",
    "for", "is", "are",
})  # fmt: skip


# ---------------------------------------------------------------- the roles, by rules


def summarize(previous: str, trace: Sequence[Step], task: Task) -> str:
    """Summarize what was done, the latest actions in order, and the points."""
    actions = [step.action for step in trace if step.action]
    points = sum(step.reward for step in trace)
    told = ", ".join(actions[-_LATEST_ACTIONS:])
    more = "earlier steps, then " if len(actions) > _LATEST_ACTIONS else ""
    return f"{more}{told or 'nothing was done yet'}" + (f" ({points:g} points)" if points else "")


def evaluate(trace: Sequence[Step], task: Task) -> list[Subgoal]:
    """Return the directions that were read, else the parts of the goal, each judged.

    Extraction rules may know the parts of their dialect's goals (a method ``subgoals``); else they
    are the clauses. A part is complete if one action that was not refused, with the first line of
    its answer, had more than three quarters of its words (``sliced`` counts for ``slice``).
    """
    read = [
        line for step in trace for block in _directions(step.text) for line in block.splitlines()
    ]
    split = getattr(get_extractor(task.dialect), "subgoals", None)
    parts = read or (split and split(task.goal[:_TEXT])) or _CLAUSE.split(task.goal[:_TEXT])
    subgoals = list(dict.fromkeys(" ".join(part.split())[:_SUBGOAL] for part in parts))
    asked = [(text, words) for text in subgoals if (words := _words(text))][-_SUBGOALS:]
    done = {_done(step.action, _first_line(step.text)): None for step in trace if step.action}
    return [
        Subgoal(text, any(_covers(did, words) for did in done))
        for text, words in asked[-_SUBGOALS:]
    ]


@lru_cache(maxsize=1 << 12)
def _directions(text: str) -> tuple[str, ...]:
    return tuple(_DIRECTIONS.findall(text))


def _first_line(text: str) -> str:
    return text.lstrip()[:_SUBGOAL].partition("\n")[0]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _SMALL


@lru_cache(maxsize=1 << 14)
def _done(action: str, answer: str) -> frozenset[str]:
    return frozenset() if _REFUSED.search(answer) else _words(f"{action} {answer}")


@lru_cache(maxsize=1 << 12)
def _forms(word: str) -> tuple[str, ...]:
    return word, word + "d", word + "ed", word[:-1] + "ied", word[:-1] + "ying"


@lru_cache(maxsize=1 << 14)
def _covers(did: frozenset[str], words: frozenset[str]) -> bool:
    if not did:
        return False
    return sum(any(f in did for f in _forms(word)) for word in words) > _ENOUGH * len(words)


# ---------------------------------------------------------------- history and tuples


class Historian(NamedTuple):
    """Writes h, the history of a tuple: evaluation and summary (Eq. 6, Table 4)."""

    evaluate: EvaluateSubgoals
    summarize: Summarize

    def __call__(self, trace: Sequence[Step], task: Task) -> str:
        """Return the history after the steps of ``trace``, the last of which is the present one."""
        lines = [
            f"Subgoal {n}: {' '.join(s.text.split())[:_SUBGOAL]} - "
            f"{'complete' if s.complete else 'incomplete'}"
            for n, s in enumerate(self.evaluate(trace, task)[:_SUBGOALS], 1)
        ]
        past = len(trace) > 1  # nothing to summarize before the first action
        told = self.summarize("", trace, task) if past else "nothing was done yet"
        return "\n".join([*lines, f"Summary: {' '.join(told.split())[:_SUMMARY]}"])


def clipped(step: Step) -> Step:
    """Return a step with its texts clipped."""
    return Step(step.t, step.text[:_TEXT].strip(), step.action[:_ACTION], step.reward)


def examples_of(
    steps: Sequence[Step], task: Task, historian: Historian, start: int = 0
) -> list[Example]:
    """Return the tuples of a process from index ``start`` on, one for every action."""
    kept = [clipped(step) for step in steps]
    return [
        Example(
            task.goal[:_TEXT],
            historian(kept[max(at + 1 - LONGEST, 0) : at + 1], task),
            kept[at].text,
            kept[at + 1].action,
        )
        for at in range(start, len(kept) - 1)
    ]


def form(
    trajectories: Iterable[Trajectory],
    historian: Historian,
    cluster_goals: Cluster,
    cluster_observations: Cluster,
    *,
    batch_size: int,
    first_batch: int = 0,
) -> Iterator[Addition]:
    """Form one batch memory from every ``batch_size`` trajectories worth imitating.

    Args:
        trajectories: Demonstrations, or other processes.
        historian: Writes the histories.
        cluster_goals: Finds the types of goals (Eq. 7).
        cluster_observations: Finds the types of observations within a goal type (Eq. 8).
        batch_size: B, trajectories a batch, >= 1.
        first_batch: Number of the first batch memory.
    """
    rest, number = iter(trajectories), first_batch
    while batch := list(islice(rest, batch_size)):
        played = [t for t in batch if len(t.steps) > 1]
        kinds = cluster_goals([t.task.goal for t in played])
        entries: list[Entry] = []
        processes: list[Process] = []
        for kind in dict.fromkeys(kinds):
            own = [t for t, name in zip(played, kinds, strict=True) if name == kind]
            examples = [e for t in own for e in examples_of(t.steps, t.task, historian)]
            types = cluster_observations([example.observation for example in examples])
            entries += map(Entry, [kind] * len(types), types, examples)
            best = own[choose(own)]
            steps = tuple(clipped(step) for step in best.steps[:LONGEST])
            processes.append(Process(kind, score_of(best.outcome), steps))
        if entries:
            yield Addition(number, tuple(entries), tuple(processes))
            number += 1


def score_of(outcome: Outcome) -> float:
    """Return the normalized score, or the score where the maximum is unknown."""
    return outcome.normalized_score if outcome.max_score else outcome.score


def choose(processes: Sequence[Trajectory]) -> int:
    """Return the index of the best process: highest score, then fewest steps, then first (Eq. 5).

    The paper lets a language model choose; here the environment's score does.
    """
    return min(
        range(len(processes)),
        key=lambda i: (-score_of(processes[i].outcome), len(processes[i].steps), i),
    )

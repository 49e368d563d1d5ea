"""Answers to the prompts about the past: summaries, ratings, reflections, learnings, types."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from gym_memory.core.records import Step, Task, Triple
from gym_memory.memory.reading import ACTIONS, GOALS, PLACES, READ, item_line, sections
from gym_memory.memory.roles import rules
from gym_memory.memory.roles.base import CausalAbstraction
from gym_memory.memory.roles.text import numbered, unmarked
from gym_memory.testing.chat.answers import Slots, answers
from gym_memory.testing.chat.graph_answers import facts_in, graph_of, items_of

__all__ = ["read_trace"]

_STEP = re.compile(r"^Step (\d+)\n(?:Action: (.*)\n)?Observation: ", re.MULTILINE)
_REWARD = re.compile(r" \(reward ([+-][\d.e+-]+)\)$")
_NO_EFFECT = re.compile(
    r"\b(?:nothing happens|can't|cannot|could not|not possible|don't|isn't|wrong|already)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{3,}")


def read_trace(text: str) -> list[Step]:
    """The steps of a trace as a prompt shows it."""
    marks = list(_STEP.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    steps = []
    for mark, end in zip(marks, ends, strict=False):
        answer = text[mark.end() : end].rstrip("\n")
        rewarded = _REWARD.search(answer)
        reward = float(rewarded[1]) if rewarded else 0.0
        answer = answer[: rewarded.start()] if rewarded else answer
        steps.append(Step(int(mark[1]), answer, mark[2] or "", reward))
    return steps


def _known_after(trace: list[Step], task: str, before: list[Triple]) -> list[Triple]:
    """The facts that hold after a trace, read step by step."""
    graph = graph_of(before)
    for step in trace:
        known = "\n".join(", ".join(fact) for fact in graph.live() if "," not in "".join(fact))
        for fact in facts_in(step.text, task, step.action, known=known):
            graph.add(fact, 0)
    return list(graph.live())


def _gist(text: str) -> str:
    """The first words of an observation in one line."""
    return " ".join(text.split())[:160]


@answers("summary")
def summary(slots: Slots) -> str:
    """Facts known so far as lines, then what was done."""
    trace = read_trace(slots["trace"])
    lines = slots["previous"].split("\n")
    facts = items_of(lines)
    done = [line for line in lines if line.startswith("* ")]
    facts = _known_after(trace, slots["task"], facts)
    done += [line for step in trace if (line := f"* {step.action}: {_gist(step.text)}") not in done]
    return "\n".join([*map(item_line, facts), *done[-10:]]) or "Nothing was seen."


@answers("belief")
def belief(slots: Slots) -> str:
    """The four headings, filled from the last belief and the trajectory."""
    trace = read_trace(slots["trace"])
    past = sections(slots["previous"])
    facts = items_of([*past[PLACES], *past[READ]])
    facts = _known_after(trace, slots["task"], facts)
    from_texts = {"says", "requires", "needs to be", "mentions"}
    new = trace[-1:] if slots["previous"].strip() else trace
    done = [*past[ACTIONS], *(f"* {s.action}" for s in new if s.action)]
    lines_of = {
        ACTIONS: done[-40:],
        PLACES: [item_line(f) for f in facts if f.relation not in from_texts],
        GOALS: [f"* {_gist(slots['task'])}"],
        READ: [item_line(f) for f in facts if f.relation in from_texts],
    }
    return "\n".join(line for name, lines in lines_of.items() for line in (f"{name}:", *lines))


@answers("past")
def past(slots: Slots) -> str:
    """The actions in order."""
    done = ", then ".join(step.action for step in read_trace(slots["trace"]) if step.action)
    return f"Summary: {done or 'nothing was done yet'}"


@answers("importance")
def importance(slots: Slots) -> str:
    """The rule's rating."""
    return str(round(rules.importance(slots["memory"], Task("", slots["task"]))))


@answers("insights")
def insights(slots: Slots) -> str:
    """The statements that matter most, as rated by the rule."""
    task = Task("", slots["task"])
    items = [unmarked(line) for line in slots["statements"].split("\n") if line.strip()]
    ranked = sorted(dict.fromkeys(items), key=lambda item: -rules.importance(item, task))
    return numbered(f"It matters that {_gist(item)}" for item in ranked[:5])


def _gains(trace: list[Step]) -> tuple[list[str], list[str]]:
    """Actions that were rewarded, and actions that had no effect or cost points."""
    useful = [step.action for step in trace if step.action and step.reward > 0]
    useless = [
        step.action
        for before, step in pairwise(trace)
        if step.action
        and step.reward <= 0
        and (step.reward < 0 or step.text == before.text or _NO_EFFECT.search(step.text))
    ]
    return list(dict.fromkeys(useful)), list(dict.fromkeys(useless))


@answers("reflect")
def reflect(slots: Slots) -> str:
    """Do again what was rewarded, leave what had no effect, then try something else."""
    useful, useless = _gains(read_trace(slots["trace"]))
    plan = []
    if useful:
        plan.append(f"Do again what brought points: {', then '.join(useful)}.")
    if useless:
        plan.append(f"Do not try again: {', '.join(useless)}.")
    return " ".join([*plan, "Then go on to places and things that were not tried yet."])


@answers("advice")
def advice(slots: Slots) -> str:
    """The same as free-form items, earlier ones kept."""
    useful, useless = _gains(read_trace(slots["trace"]))
    old = [unmarked(line) for line in slots["previous"].split("\n") if line.strip()]
    new = [f"Do: {action}." for action in useful] + [f"Do not: {action}." for action in useless]
    return numbered(dict.fromkeys([*old, *new, "Try what was not tried yet."]))


@answers("causes")
def causes(slots: Slots) -> str:
    """What came right before progress, what had no effect; seen twice is certain."""
    trace = read_trace(slots["trace"])
    useful, useless = _gains(trace)
    said = [CausalAbstraction.parse(unmarked(line)) for line in slots["previous"].split("\n")]
    before = list(dict.fromkeys(item for item in said if item))
    goal = "making progress with the task"
    new = [CausalAbstraction(action, goal) for action in useful]
    new += [CausalAbstraction(action, goal, necessary=False) for action in useless]
    learnt: dict[tuple[str, str], CausalAbstraction] = {(i.cause, i.effect): i for i in before}
    for item in new:
        known = learnt.get((item.cause, item.effect))
        again = known is not None and known.necessary == item.necessary
        learnt[item.cause, item.effect] = item._replace(certain=again)
    everything = list(learnt.values())
    return numbered(everything or [CausalAbstraction("Looking around", goal)])


@answers("causes_environment")
def causes_environment(slots: Slots) -> str:
    """Learnings of all lists; those that several lists state are certain."""
    said = [CausalAbstraction.parse(unmarked(line)) for line in slots["archive"].split("\n")]
    counts = Counter(item._replace(certain=False) for item in said if item)
    merged = [item._replace(certain=count > 1) for item, count in counts.items()]
    return numbered(merged or [CausalAbstraction("Looking around", "doing the task")])


@answers("causes_task")
def causes_task(slots: Slots) -> str:
    """The same, but for another task nothing is certain."""
    lines = causes_environment(slots).split("\n")
    items = [CausalAbstraction.parse(unmarked(line)) for line in lines]
    return numbered(item._replace(certain=False) for item in items if item)


@answers("subgoals")
def subgoals(slots: Slots) -> str:
    """The clauses of the goal; complete when an action names half of a clause's words."""
    actions = " ".join(step.action.lower() for step in read_trace(slots["trace"]))
    lines: list[str] = []
    for clause in re.split(r"[.;!?]|,? (?:and then|then|and) ", slots["task"]):
        words = set(_WORD.findall(clause.lower())) - {"the", "you", "your"}
        if words:
            done = 2 * sum(word in actions for word in words) >= len(words)
            state = "complete" if done else "incomplete"
            lines.append(f"subgoal {len(lines) + 1}: {_gist(clause)} - {state}")
    return "\n".join(lines) or "subgoal 1: do the task - incomplete"


@answers("cluster")
def cluster(slots: Slots) -> str:
    """Types by the first word of each text."""
    types: dict[str, list[int]] = {}
    for number, line in enumerate(slots["texts"].split("\n"), 1):
        words = _WORD.findall(unmarked(line).lower())
        types.setdefault(words[0] if words else "other", []).append(number)
    return "\n".join(
        f"High-level Type{n}: {name} {numbers}"
        for n, (name, numbers) in enumerate(types.items(), 1)
    )


@answers("classify")
def classify(slots: Slots) -> str:
    """The type that shares the most words with the text."""
    words = set(_WORD.findall(slots["text"].lower()))
    lines = slots["types"].split("\n")
    shared = [len(words & set(_WORD.findall(line.lower()))) for line in lines]
    best = max(range(len(lines)), key=lambda index: (shared[index], -index))
    return f"[{best + 1}]: {shared[best]} words in common"


@answers("compare")
def compare(slots: Slots) -> str:
    """The first step whose action differs."""
    first, second = read_trace(slots["first"]), read_trace(slots["second"])
    if not first:
        return "0: there are no steps"
    index = rules.compare(first, second, Task("", slots["task"]))
    return f"{first[index].t}: the actions differ"

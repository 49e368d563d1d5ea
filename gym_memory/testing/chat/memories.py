"""Rule-based answers to prompts of memories, about facts and events."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

from gym_memory.baselines.rules.learner import Advice
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Step, Task, Triple
from gym_memory.core.text import letter_words
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, direction_of
from gym_memory.memory.lessons.causes import NEW, things_of
from gym_memory.memory.reading import ACTIONS, GOALS, PLACES, READ, item_line, read_item, sections
from gym_memory.memory.roles.base import CausalAbstraction, compare, explore, importance, outdated
from gym_memory.memory.roles.text import (
    fact_lines,
    numbered,
    read_triple_lists,
    read_triples,
    triples_json,
    unmarked,
)
from gym_memory.testing.chat.registry import Slots, answers

__all__ = ["LESSON_FACT", "facts_in", "graph_of", "lessons_of", "plan_in", "read_trace", "workflow"]


LESSON_FACT = re.compile(
    r'(?:"(?P<action>[^"]+)" in the (?P<here>.+?)|going to the (?P<place>.+?)|'
    r"reading the (?P<page>.+?)|having the (?P<key>.+?)|"
    r"making the (?P<raw>.+) (?P<how>\w+)) (?:MAY|SHOULD) BE NECESSARY TO "
    r"(?:reaching the (?P<there>.+)|finding something new|finding the (?P<thing>.+?)"
    r"(?: in the (?P<holder>.+?))?(?:, which is (?P<state>\w+))?|"
    r"knowing that it says: (?P<text>.+)|opening the (?P<lock>.+)|"
    r"following the (?P<recipe>.+))\."
)
"""Pattern of a lesson about a place, a thing, a key or a recipe."""

_PROGRESS = "making progress with the task"
_LESSON = re.compile(r"(\d+)\. (.+)")
_THING = re.compile(
    r"\b(?:the|an?|some|your)\s+([a-z][a-z'-]*(?:\s+[a-z][a-z'-]*){0,3}?)"
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:is|are|in|on|at|and|or|to|of|from|with|here|that|which)\b)"
)
_STEP = re.compile(
    r"^Step (\d+)\n(?:Thought: [^\n]*\n)?(?:Action: ([^\n]*)\n)?"
    r"Observation: (.*?)(?: \(reward ([+-][\d.e+-]+)\))?\n*"
    r"(?=\Z|^Step \d+\n(?:Thought: [^\n]*\n)?(?:Action: [^\n]*\n)?Observation: )",
    re.MULTILINE | re.DOTALL,
)
_NO_EFFECT = re.compile(
    r"\b(?:nothing happens|can't|cannot|could not|not possible|don't|isn't|wrong|already)\b",
    re.IGNORECASE,
)


# ------------------------------------------------------------ parts of a prompt


def lessons_of(memory: str) -> dict[int, str]:
    """Return the numbered lessons that a memory shows first."""
    lessons: dict[int, str] = {}
    for line in memory.split("\n"):
        found = _LESSON.fullmatch(line)
        if found is not None:
            lessons[int(found[1])] = found[2]
        elif lessons:
            break
    return lessons


def plan_in(lessons: Mapping[int, str]) -> list[tuple[str, str]]:
    """Return the plan in lessons as pairs (action, place), without unexplored places."""
    read = [f"{n}. {lesson}" for n, lesson in lessons.items() if not lesson.endswith(f" {NEW}.")]
    return Advice.read(read).plan


def graph_of(triples: Iterable[Triple]) -> TemporalGraph:
    """Return a graph of facts that hold now."""
    graph = TemporalGraph()
    for triple in triples:
        graph.add(triple, 0)
    return graph


def facts_in(step: Step, task: str, known: Iterable[Triple] = ()) -> list[Triple]:
    """Return the facts that the extraction rules read in a step, given known facts."""
    graph = graph_of(known)
    for dialect in ("textworld", "plain"):
        goal = Task("", task, dialect)
        mentions = get_extractor(dialect).extract(step, graph, goal).mentions
        if mentions:
            return [mention.triple for mention in mentions]
    return []


def _facts_after(trace: list[Step], task: str, before: Iterable[Triple]) -> list[Triple]:
    """Return the facts that hold after a trace; rewards do not affect them."""
    graph = graph_of(before)
    for step in trace:
        for fact in facts_in(step._replace(reward=0.0), task, graph.live()):
            graph.add(fact, 0)
    return list(graph.live())


def _facts(lines: str) -> list[Triple]:
    try:
        return read_triples(lines)
    except ModelError:
        return []


def _items(lines: Iterable[str]) -> list[Triple]:
    """Return the facts that an account lists."""
    items = (read_item(line.strip()) for line in lines if line.lstrip().startswith("- "))
    # In an account, the place where a meal is prepared is a state of the meal.
    return [
        fact._replace(relation="is", object=f"prepared in {fact.object}")
        if fact.relation == "is prepared in"
        else fact
        for fact in items
        if fact
    ]


def read_trace(text: str) -> list[Step]:
    """Return the steps of a trace as a prompt shows it."""
    return [
        Step(int(t), seen, action, float(reward or 0))
        for t, action, seen, reward in _STEP.findall(text)
    ]


def _gist(text: str) -> str:
    return " ".join(text.split())[:160]


# ------------------------------------------------------------ facts


@answers("extract")
def _extract(slots: Slots) -> str:
    step = Step(1, slots["observation"], slots["action"], inventory=slots["inventory"])
    facts = facts_in(step, slots["task"], _facts(slots["known"]))
    return "; ".join(fact_lines([fact]) for fact in facts) or "none"


@answers("outdated")
def _outdated(slots: Slots) -> str:
    """Return facts whose slot has a new value, contents that left, and things no longer empty."""
    existing, new = _facts(slots["existing"]), _facts(slots["new"])
    placed = [fact for fact in new if fact.relation in LOCATIONS]
    place = {fact.subject: fact for fact in placed}
    content = {fact.object: fact for fact in placed}
    pairs = []
    for fact in existing:
        moved = place.get(fact.object)
        if outdated([fact], new, Task("", "")):
            pairs.append((fact, next(f for f in new if f.subject in fact or f.object in fact)))
        elif fact.relation in ("contains", "holds") and moved and moved.object != fact.subject:
            pairs.append((fact, moved))
        elif fact[1:] == ("is", "empty") and fact.subject in content:
            pairs.append((fact, content[fact.subject]))
    replaced = ", ".join(f"[{fact_lines([old])} -> {fact_lines([by])}]" for old, by in pairs)
    return f"[{replaced}]"


@answers("entities")
def _entities(slots: Slots) -> str:
    """Return things in the plan and the task (2 hops), then those in view and held (1 hop)."""
    depth: dict[str, int] = {}
    for name, hops in (("plan", 2), ("task", 2), ("observation", 1), ("inventory", 1)):
        for thing in _THING.findall(slots[name].lower()):
            depth.setdefault(thing, hops)
    return json.dumps(dict(list(depth.items())[:10]))


@answers("explore")
def _explore(slots: Slots) -> str:
    return str(explore(slots["plan"], Task("", slots["task"])))


@answers("relations")
def _relations(slots: Slots) -> str:
    """Return the spatial facts among the lines of the belief, the latest of each slot."""
    spatial = [
        fact
        for fact in graph_of(_items(slots["belief"].split("\n"))).live()
        if fact.relation in LOCATIONS | {"has exit"} or direction_of(fact.relation)
    ]
    return f"```\n{triples_json(spatial)}\n```"


@answers("aggregate")
def _aggregate(slots: Slots) -> str:
    """Return the triples as sentences, with conclusions from two ways in one direction."""
    try:
        triples = read_triple_lists(slots["triples"])
    except ModelError:
        triples = []
    sentences = [f"The {t.subject} {t.relation} the {t.object}." for t in triples]
    ways = {(t.object, t.relation): t.subject for t in triples if direction_of(t.relation)}
    for (start, relation), middle in ways.items():
        end = ways.get((middle, relation))
        if end is not None and end != start:
            sentences.append(f"So the {end} {relation} the {start}, beyond the {middle}.")
    return " ".join(sentences) or "Nothing is known."


# ------------------------------------------------------------ events


@answers("summary")
def _summary(slots: Slots) -> str:
    """Return known facts as lines, then the actions."""
    trace = read_trace(slots["trace"])
    lines = slots["previous"].split("\n")
    facts = _facts_after(trace, slots["task"], _items(lines))
    done = [line for line in lines if line.startswith("* ")]
    done += [line for step in trace if (line := f"* {step.action}: {_gist(step.text)}") not in done]
    return "\n".join([*map(item_line, facts), *done[-10:]]) or "Nothing was seen."


@answers("belief")
def _belief(slots: Slots) -> str:
    """Return the four headings, filled from the last belief and the trajectory."""
    trace = read_trace(slots["trace"])
    past = sections(slots["previous"])
    facts = _facts_after(trace, slots["task"], _items([*past[PLACES], *past[READ]]))
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
def _past(slots: Slots) -> str:
    done = ", then ".join(step.action for step in read_trace(slots["trace"]) if step.action)
    return f"Summary: {done or 'nothing was done yet'}"


@answers("importance")
def _importance(slots: Slots) -> str:
    return str(round(importance(slots["memory"], Task("", slots["task"]))))


@answers("insights")
def _insights(slots: Slots) -> str:
    """Return the statements that matter most, as rated by the rule."""
    task = Task("", slots["task"])
    items = [unmarked(line) for line in slots["statements"].split("\n") if line.strip()]
    ranked = sorted(dict.fromkeys(items), key=lambda item: -importance(item, task))
    return numbered(f"It matters that {_gist(item)}" for item in ranked[:5])


def _gains(trace: list[Step]) -> tuple[list[str], list[str]]:
    """Return actions that were rewarded, and actions that had no effect or cost points."""
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
def _reflect(slots: Slots) -> str:
    """Repeat rewarded actions, skip those without effect, then try others."""
    useful, useless = _gains(read_trace(slots["trace"]))
    plan = []
    if useful:
        plan.append(f"Do again what brought points: {', then '.join(useful)}.")
    if useless:
        plan.append(f"Do not try again: {', '.join(useless)}.")
    return " ".join([*plan, "Then go on to places and things that were not tried yet."])


@answers("advice")
def _advice(slots: Slots) -> str:
    """Return this advice as a numbered list, after the earlier items."""
    useful, useless = _gains(read_trace(slots["trace"]))
    old = [unmarked(line) for line in slots["previous"].split("\n") if line.strip()]
    new = [f"Do: {action}." for action in useful] + [f"Do not: {action}." for action in useless]
    return numbered(dict.fromkeys([*old, *new, "Try what was not tried yet."]))


def _warning(trace: list[Step]) -> str:
    return f"Do not end with {trace[-1].action!r}" if trace else "Do not end without an action"


@answers("lesson_success")
@answers("lesson_failure")
def _lesson(slots: Slots) -> str:
    """Return the rewarded actions as steps, or the last action as the failure."""
    trace = read_trace(slots["trace"])
    useful, _ = _gains(trace)
    if useful:
        return f"For such a task: {', then '.join(useful)}."
    return f"{_warning(trace)}; try another way."


@answers("lesson_contrast")
def _lesson_contrast(slots: Slots) -> str:
    """Return the lesson with the first different action of the other attempt."""
    other = unmarked(slots["other"].split("\n")[0])
    return f"{_lesson(slots)} Another attempt began with: {other}."


@answers("procedure")
def _procedure(slots: Slots) -> str:
    """Return the procedure and a warning of the last action of the failure."""
    return f"{slots['procedure']}\n{_warning(read_trace(slots['trace']))}."


def _causes_in(text: str) -> list[CausalAbstraction]:
    read = (CausalAbstraction.parse(unmarked(line)) for line in text.split("\n"))
    return [item for item in read if item]


@answers("causes")
def _causes(slots: Slots) -> str:
    """Return actions that made progress or had no effect; a repeated one is certain."""
    useful, useless = _gains(read_trace(slots["trace"]))
    before = dict.fromkeys(_causes_in(slots["previous"]))
    learnt = {(item.cause, item.effect): item for item in before}
    new = [CausalAbstraction(action, _PROGRESS) for action in useful]
    new += [CausalAbstraction(action, _PROGRESS, necessary=False) for action in useless]
    for item in new:
        known = learnt.get(item[:2])
        again = known is not None and known.necessary == item.necessary
        learnt[item.cause, item.effect] = item._replace(certain=again)
    return numbered(learnt.values() or [CausalAbstraction("Looking around", _PROGRESS)])


def _common_causes(archive: str) -> list[CausalAbstraction]:
    """Return the causes in all lists; those in several lists are certain."""
    counts = Counter(item._replace(certain=False) for item in _causes_in(archive))
    merged = [item._replace(certain=count > 1) for item, count in counts.items()]
    return merged or [CausalAbstraction("Looking around", "doing the task")]


@answers("causes_environment")
def _causes_environment(slots: Slots) -> str:
    return numbered(_common_causes(slots["archive"]))


@answers("causes_task")
def _causes_task(slots: Slots) -> str:
    """Return the common causes; for another task, none is certain."""
    return numbered(item._replace(certain=False) for item in _common_causes(slots["archive"]))


@answers("subgoals")
def _subgoals(slots: Slots) -> str:
    """Return the clauses of the goal; an action with half of a clause's words completes it."""
    actions = " ".join(step.action.lower() for step in read_trace(slots["trace"]))
    lines: list[str] = []
    for clause in re.split(r"[.;!?]|,? (?:and then|then|and) ", slots["task"]):
        words = set(letter_words(clause, least=3)) - {"the", "you", "your"}
        if words:
            done = 2 * sum(word in actions for word in words) >= len(words)
            state = "complete" if done else "incomplete"
            lines.append(f"subgoal {len(lines) + 1}: {_gist(clause)} - {state}")
    return "\n".join(lines) or "subgoal 1: do the task - incomplete"


@answers("cluster")
def _cluster(slots: Slots) -> str:
    """Return types by the first word of each text."""
    types: dict[str, list[int]] = {}
    for number, line in enumerate(slots["texts"].split("\n"), 1):
        words = letter_words(unmarked(line), least=3)
        types.setdefault(words[0] if words else "other", []).append(number)
    lines = enumerate(types.items(), 1)
    return "\n".join(f"High-level Type{n}: {name} {numbers}" for n, (name, numbers) in lines)


@answers("classify")
def _classify(slots: Slots) -> str:
    words = set(letter_words(slots["text"], least=3))
    shared = [len(words & set(letter_words(x, least=3))) for x in slots["types"].split("\n")]
    return f"[{shared.index(max(shared)) + 1}]: {max(shared)} words in common"


@answers("compare")
def _compare(slots: Slots) -> str:
    first, second = read_trace(slots["first"]), read_trace(slots["second"])
    if not first:
        return "0: there are no steps"
    index = compare(first, second, Task("", slots["task"]))
    return f"{first[index].t}: the actions differ"


_PROCESS = re.compile(r"^Process \d+$", re.MULTILINE)


@answers("choose")
def _choose(slots: Slots) -> str:
    """Return the process with the fewest steps, which ended first."""
    processes = [len(read_trace(text)) for text in _PROCESS.split(slots["processes"])[1:]]
    best = min(range(len(processes)), key=lambda at: processes[at], default=0)
    return f"{best + 1}: it has the fewest steps"


_QUOTED = re.compile(r'"([^"]+)"')


def _done(slots: Slots) -> list[str]:
    return [step.action for step in read_trace(slots["trace"]) if step.action] or ["look"]


@answers("reasoning_success")
def _reasoning_success(slots: Slots) -> str:
    """Return the order of the actions as one item."""
    order = ", ".join(f'"{action}"' for action in _done(slots))
    return (
        "# Memory Item 1\n## Title\nOrder\n## Description\nUse it for such a task.\n"
        f"## Content\nDo in this order: {order}."
    )


@answers("reasoning_failure")
def _reasoning_failure(slots: Slots) -> str:
    """Return the last action as one to avoid."""
    return (
        "# Memory Item 1\n## Title\nAnother end\n## Description\nUse it for such a task.\n"
        f'## Content\nDo not do "{_done(slots)[-1]}".'
    )


@answers("reasoning_attempts")
def _reasoning_attempts(slots: Slots) -> str:
    """Return the item of the last success, or of the last failure if there is no success."""
    attempts = re.split(r"^Attempt \d+, a ", slots["attempts"], flags=re.MULTILINE)
    won = [attempt for attempt in attempts if attempt.startswith("success")]
    if won:
        return _reasoning_success({"trace": won[-1]})
    return _reasoning_failure({"trace": attempts[-1]})


@answers("workflows")
def workflow(slots: Slots) -> str:
    """Return the actions as one workflow, with a slot instead of the first thing."""
    actions = _done(slots)
    thing = next((things_of(action)[0] for action in actions if things_of(action)), "thing")
    lines = [f'{n}. go on: "{a.replace(thing, "{object}")}"' for n, a in enumerate(actions, 1)]
    return "\n".join(["Workflow 1: do the task", *(lines if len(lines) > 1 else lines * 2)])


@answers("rules")
def _rules(slots: Slots) -> str:
    """Agree with the first rule; add the first action that only the success has."""
    failure, _, success = slots["trials"].rpartition("Success: ")
    new = [action for action in _QUOTED.findall(success) if f'"{action}"' not in failure]
    edits = [f'ADD: It helps to do "{new[0]}".'] if new else []
    first = slots["rules"].split("\n")[0]
    known = first.startswith("1. ")
    return "\n".join([*([f"AGREE 1: {unmarked(first)}"] if known else []), *edits]) or "none"


@answers("bullets_reflect")
def _bullets_reflect(slots: Slots) -> str:
    """Rate every bullet helpful if the task was completed, else harmful."""
    tag = "helpful" if "completed the task" in slots["evaluation"] else "harmful"
    ids = re.findall(r"^\[([\w-]+)\]", slots["playbook"], re.MULTILINE)
    return json.dumps({"reasoning": "", "bullet_tags": [{"id": id, "tag": tag} for id in ids]})


@answers("bullets_curate")
def _bullets_curate(slots: Slots) -> str:
    """Add the last action as a strategy, or as a mistake."""
    won, last = "completed the task" in slots["evaluation"], _done(slots)[-1]
    section = "strategies" if won else "mistakes"
    add = {"type": "ADD", "section": section, "content": f'{"End" if won else "Do not end"} '
           f'with "{last}".'}  # fmt: skip
    return json.dumps({"reasoning": "", "operations": [add]})


@answers("evolve")
def _evolve(slots: Slots) -> str:
    """Return actions that gained points, then the advice to try others."""
    gains = [step.action for step in read_trace(slots["trace"]) if step.reward > 0]
    first = ", ".join(f'"{action}"' for action in gains)
    return f"Do first: {first or 'what is new'}. Then try what was not tried yet."


@answers("note")
def _note(slots: Slots) -> str:
    """Return the longer words of the observation."""
    words = list(dict.fromkeys(letter_words(slots["observation"], least=4)))[:8]
    context = f"What came of {slots['action'] or 'looking'}."
    return json.dumps({"keywords": words, "context": context, "tags": words[:3]})


@answers("note_links")
def _note_links(slots: Slots) -> str:
    """Link the first neighbour."""
    return json.dumps({"should_evolve": True, "actions": ["strengthen"],
                       "suggested_connections": [1], "new_context_neighborhood": []})  # fmt: skip

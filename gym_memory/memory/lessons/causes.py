"""Find rule-based causes: which action of a trace had which effect."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gym_memory.core.records import Step, Task
from gym_memory.core.text import without_article
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import Ways, current_place, shortest_path, unexplored_exits, ways_out
from gym_memory.graph.schema import INVENTORY, LOCATIONS, OPPOSITE, PLAYER, VERBATIM, is_contents
from gym_memory.graph.temporal import rewind
from gym_memory.memory.roles.base import importance

__all__ = ["FINDING", "FOLLOWING", "NEW", "OPENING", "REACHING", "SAYS", "Need", "TrialAction"]
__all__ += ["idle_actions", "needed_acts", "plan_of", "read_acts", "read_trial", "surroundings"]
__all__ += ["vain_verbs", "verb_of"]

_PREPOSITIONS = re.compile(
    r"\s+(?:with|from|into|onto|in|on|to|at|under|using|behind|over|through)\s+"
)
_INFORMATIVE = 4.0
"""Importance, of 10, from which an answer counts as news although the world did not change."""
_KINDS = 3
"""Different things on which a verb had no effect before the verb is blamed."""


class Situation(NamedTuple):
    """A comparable part of a moment of a trial."""

    place: str
    inventory: str
    valid: frozenset[str]


class TrialAction(NamedTuple):
    """One action of a trial and its effect.

    Attributes:
        changed: Whether inventory, place, valid actions (else the text) or score changed.
        news: Whether it brought news: a place seen first, something read, an important text.
    """

    number: int
    action: str
    reward: float
    changed: bool
    news: bool
    before: Situation
    after: Situation

    @property
    def where(self) -> str:
        """Return the place it was done in; empty when unknown."""
        return self.before.place

    @property
    def to(self) -> str:
        """Return the place it led to; empty when unknown."""
        return self.after.place

    @property
    def moved(self) -> bool:
        """True if it led from one place to another."""
        return self.where != self.to and bool(self.where and self.to)

    @property
    def things(self) -> list[str]:
        """Return the things that the action names, its object first."""
        return things_of(self.action)


class Need(NamedTuple):
    """An act and the act that needed it; None where it scored itself."""

    act: TrialAction
    effect: TrialAction | None


def things_of(action: str) -> list[str]:
    """Return the things that a command names.

    >>> things_of("slice the red onion with knife")
    ['red onion', 'knife']
    """
    _, _, rest = action.lower().partition(" ")
    parts = (without_article(part.strip(), "some", "my") for part in _PREPOSITIONS.split(rest))
    return [part for part in parts if part]


def verb_of(action: str) -> str:
    """Return the first word of a command."""
    return action.lower().partition(" ")[0]


def read_acts(trace: Sequence[Step], task: Task) -> list[TrialAction]:
    """Return the acts of a trial, oldest first; places come from the extraction rules."""
    return read_trial(trace, task)[0]


def read_trial(trace: Sequence[Step], task: Task) -> tuple[list[TrialAction], TemporalGraph]:
    """Return the acts of a trial, and the graph of all that it showed, as it was at the end."""
    extractor, graph = get_extractor(task.dialect), TemporalGraph()
    acts: list[TrialAction] = []
    heard: set[str] = set()
    visited: set[str] = set()
    before: Situation | None = None
    for t, step in enumerate(trace):
        apply(extractor.extract(step, graph, task), graph, t)
        after = Situation(current_place(graph) or "", step.inventory, frozenset(step.valid_actions))
        fresh = step.text not in heard
        if step.action and before is not None:
            changed = bool(step.done or step.reward or after != before)
            news = after.place not in visited or (
                fresh and importance(step.text, task) >= _INFORMATIVE
            )
            changed = changed or (fresh and not after.valid)
            acts.append(
                TrialAction(len(acts), step.action, step.reward, changed, news, before, after)
            )
        heard.add(step.text)
        visited.add(after.place)
        before = after
    return acts, graph


def needed_acts(acts: Sequence[TrialAction]) -> list[Need]:
    """Return the acts that the points of a trial depend on, in order: a backward slice.

    A rewarded act is needed. So is the act after which a needed act first was valid in its place,
    the latest change of each thing it names, and the shortest known ways between their places.
    """
    effects: dict[int, TrialAction | None] = {act.number: None for act in acts if act.reward > 0}
    todo = sorted(effects)
    while todo:
        while todo:
            act = acts[todo.pop()]
            for index in _premises(acts, act):
                if index not in effects:
                    effects[index] = act
                    todo.append(index)
        for move in _ways(acts, sorted(effects)):
            if move.number not in effects:
                effects[move.number] = None
                todo.append(move.number)
    return [Need(acts[index], effects[index]) for index in sorted(effects)]


def _premises(acts: Sequence[TrialAction], act: TrialAction) -> Iterator[int]:
    end = act.number
    for earlier in acts[: act.number]:
        if earlier.where == act.where and act.action in earlier.before.valid:
            end = earlier.number
            break
    opener = acts[end - 1] if end else act
    if opener.before.valid and not opener.moved and act.action not in opener.before.valid:
        settled = _settled(acts[:end], opener.things[0]) if opener.things else None
        yield (settled or opener).number
    for thing in act.things:
        settled = _settled(acts[:end], thing)
        if settled is not None:
            yield settled.number


def _settled(acts: Sequence[TrialAction], thing: str) -> TrialAction | None:
    """Return the latest act that changed something about the thing and was not in vain."""
    chain = [a for a in acts if a.things[:1] == [thing] and a.changed and not a.moved]
    states = ["held" if thing in a.after.inventory.lower() else a.action for a in chain]
    last = len(chain) - 1
    while last > 0:
        alike = [n for n in range(last) if states[n] == states[last]]
        if not alike or alike[-1] == last - 1:
            break
        if any(a.reward > 0 for a in chain[alike[-1] + 1 : last + 1]):
            break
        last = alike[-1]
    return chain[last] if chain else None


def _ways(acts: Sequence[TrialAction], indices: Sequence[int]) -> Iterator[TrialAction]:
    if not acts:
        return
    roads, here = _roads(acts), acts[0].where
    for index in indices:
        act = acts[index]
        if not act.moved:
            for number, _ in shortest_path(here, act.where, roads) or ():
                yield acts[int(number)]
            here = act.to


def _roads(acts: Sequence[TrialAction]) -> Ways:
    """Return the moves out of a place by their numbers, for :func:`shortest_path`."""
    roads: dict[str, dict[str, str]] = {}
    for act in acts:
        if act.moved:
            roads.setdefault(act.where, {})[str(act.number)] = act.to
    return lambda place: roads.get(place, {})


def plan_of(acts: Sequence[TrialAction], also: Iterable[int] = ()) -> list[str]:
    """Return the actions to repeat, moves included: the shortest trial with the same points.

    ``also`` has numbers of acts to repeat although no points depend on them.
    """
    numbers = {item.act.number for item in needed_acts(acts)}.union(also)
    kept = [acts[number] for number in sorted(numbers) if not acts[number].moved]
    if not kept:
        return []
    plan, roads, here = [], _roads(acts), acts[0].where
    for act in kept:
        path = shortest_path(here, act.where, roads) or ()
        plan += [acts[int(number)].action for number, _ in path]
        plan.append(act.action)
        here = act.to
    return plan


def idle_actions(acts: Sequence[TrialAction], needed: Sequence[Need]) -> dict[str, int]:
    """Return actions that changed nothing or were undone, with their number, in order.

    A stretch without points is undone if it ends with the same place, inventory and valid actions.
    Moves, news, needed acts and trials without points do not count.
    """
    useful = {item.act.action for item in needed}
    useful.update(act.action for act in acts if act.news or act.moved)
    scored = any(act.reward > 0 for act in acts)
    first: dict[Situation, int] = {}
    vain: set[int] = set()
    for act in acts:
        if not act.changed:
            vain.add(act.number)
        first.setdefault(act.before, act.number)
        if act.reward:
            first = {}
        elif act.after.valid and scored:
            vain.update(range(first.get(act.after, len(acts)), act.number + 1))
    idle = (acts[number].action for number in sorted(vain))
    # a number answers an earlier question
    return Counter(action for action in idle if action not in useful and not action.isdigit())


def vain_verbs(acts: Sequence[TrialAction], needed: Sequence[Need]) -> list[str]:
    """Return verbs tried on three different things without points, news or a move."""
    useful = {verb_of(item.act.action) for item in needed}
    useful.update(verb_of(act.action) for act in acts if act.moved or act.news)
    tried: dict[str, set[str]] = {}
    for act in acts:
        tried.setdefault(verb_of(act.action), set()).add(act.action)
    vain = [v for v, actions in tried.items() if len(actions) >= _KINDS and v not in useful]
    return vain if any(item.act.reward > 0 for item in needed) else []


REACHING = "reaching the "
FINDING = "finding the "
FOLLOWING = "following the "
NEW = "finding something new"
OPENING = "opening the "
SAYS = "knowing that it says: "

_DOOR_TO = "door to "
_MAX_TEXT_CHARS = 160
_DEEPEST = 4
"""Things in things in things that are looked through for the room."""


def surroundings(
    acts: Sequence[TrialAction], graph: TemporalGraph, t: int
) -> list[tuple[str, str]]:
    """Return pairs (cause, effect) of a trial's environment; rewinds ``graph``."""
    moves = [act for act in acts if act.moved]
    places = list(dict.fromkeys(p for act in moves for p in (act.where, act.to)))
    pairs = [
        (f'"{action}" in the {here}', NEW) for action, here in _not_taken(moves, places, graph)
    ]
    pairs += [(f'"{action}" in the {a}', REACHING + b) for action, a, b in _moves(moves, graph)]
    rewind(graph, t)
    held = _holders(graph)
    for thing, holder in held.items():
        place = _room(holder, graph, held)
        # A thing named after its place is furniture: every room has some.
        if place in places and not thing.endswith(f" in {holder}"):
            pairs.append(_found(thing, holder, place))
    for fact in graph.live():
        if fact.relation in LOCATIONS and fact.subject != PLAYER and fact.object != INVENTORY:
            place = _room(fact.object, graph, held)
            if place in places:
                state = graph.value(fact.subject, "openness")
                how = f", which is {state.object}" if state else ""
                pairs.append(_found(fact.subject, fact.object, place, how))
        elif fact.relation == "opens":
            pairs.append((f"having the {fact.subject}", OPENING + fact.object))
        elif fact.relation == "requires":
            pairs.append((f"having the {fact.object}", FOLLOWING + fact.subject))
        elif fact.relation == "needs to be":
            pairs.append((f"making the {fact.subject} {fact.object}", FOLLOWING + "recipe"))
        elif fact.relation in VERBATIM:
            text = " ".join(fact.object.split())[:_MAX_TEXT_CHARS].rstrip(". ")
            pairs.append((f"reading the {fact.subject}", SAYS + text))
    return list(dict.fromkeys(pairs))


def _found(thing: str, holder: str, place: str, how: str = "") -> tuple[str, str]:
    inside = f" in the {holder}" if holder != place else ""
    return f"going to the {place}", f"{FINDING}{thing}{inside}{how}"


def _moves(moves: Sequence[TrialAction], graph: TemporalGraph) -> Iterator[tuple[str, str, str]]:
    for act in moves:
        yield act.action, act.where, act.to
        start, direction = _split(act)
        back = OPPOSITE.get(direction, "")
        if back and ways_out(graph, act.to).get(back) == act.where:
            yield start + back, act.to, act.where


def _not_taken(
    moves: Sequence[TrialAction], places: Sequence[str], graph: TemporalGraph
) -> Iterator[tuple[str, str]]:
    """Yield moves through exits that were seen and never taken, as (action, place)."""
    starts = [start for act in moves for start, end in [_split(act)] if end]
    for place in places if starts else ():
        for _, _, end in unexplored_exits(graph, place):
            room = end.removeprefix(_DOOR_TO)  # exits may be named after where they lead
            if room not in places:
                yield starts[0] + room, place


def _split(act: TrialAction) -> tuple[str, str]:
    """Split a move into its first words and its direction or aim."""
    for end in (act.action.rpartition(" ")[2], act.to):
        if end and act.action.endswith(f" {end}") and (end in OPPOSITE or end == act.to):
            return act.action[: -len(end)], end
    return "", ""


def _holders(graph: TemporalGraph) -> dict[str, str]:
    """Return things with their first holder, which is where the next trial finds them."""
    held: dict[str, str] = {}
    for _, fact, *_ in graph.events:
        if is_contents(fact.relation):
            held.setdefault(fact.object, fact.subject)
        elif fact.object == INVENTORY:
            held.setdefault(fact.subject, INVENTORY)
    return held


def _room(holder: str, graph: TemporalGraph, held: Mapping[str, str]) -> str:
    for _ in range(_DEEPEST):
        fact = graph.value(holder, "location")
        above = held.get(holder) if fact is None else fact.object
        if above is None:
            break
        holder = above
    return holder

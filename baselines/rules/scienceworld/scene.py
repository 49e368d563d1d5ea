"""Read the present scene: the agent's room, the objects in view, and past actions."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gym_memory.baselines.rules.plan import RulePlan
from gym_memory.baselines.rules.scienceworld.phrases import Act, Thing, parse, recipe_in, things_in
from gym_memory.core.records import Observation, Triple
from gym_memory.games.scienceworld.rules_items import AMBIGUOUS, TEMPERATURE
from gym_memory.graph.schema import PLAYER
from gym_memory.memory.reading import TranscriptStep, split_entries

__all__ = ["Experiment", "Pursuit", "ScienceScene", "is_move", "is_refused", "is_view", "measured"]
__all__ += ["read_scene", "room_of"]

_CALLED = re.compile(r"called the ([\w ]+?)\.")
_MOVED = re.compile(r"^You move to the ([\w ]+?)\.")
_REFUSED = re.compile(
    r"^(?:No known action|Unknown action|ERROR|You can't|It's not clear|The door is not open|"
    r"That|There is no|I'm not sure)|not (?:open|moveable|something)|unable to|must (?:first )?be",
    re.IGNORECASE,
)
_MAX_ABANDONED = 12
"""Most abandoned actions to keep; older ones may be tried again."""
_TICKS = re.compile(r"time reads (\d+) tick")
_READING = re.compile(r"measures a temperature of (-?\d+)")
NOTHING = Act("")


@dataclasses.dataclass(frozen=True)
class Pursuit:
    """An intended action; an empty verb means none.

    Attributes:
        room: Room in which to take the action.
        until: Action that ends its repetitions.
        deferred: True if another action has to come first.
        retried: True if the action was refused and is repeated once.
    """

    act: Act = NOTHING
    room: str = ""
    until: Act | None = None
    deferred: bool = False
    retried: bool = False

    def __str__(self) -> str:
        how = "later: " * self.deferred or "once more: " * self.retried
        where = f", in the {self.room}" if self.room else ""
        return f"{how}{self.act}{where}" + (f", until: {self.until}" if self.until else "")


@dataclasses.dataclass(frozen=True)
class Experiment(RulePlan):
    """A plan of an imitator."""

    aim: Pursuit = Pursuit()
    abandoned: tuple[Act, ...] = ()
    """Actions that had no success, in order."""

    def giving_up(self, acts: Iterable[Act]) -> Experiment:
        """Return the plan with these actions abandoned."""
        more = tuple(dict.fromkeys(acts))
        kept = (*(one for one in self.abandoned if one not in more), *more)[-_MAX_ABANDONED:]
        return dataclasses.replace(self, abandoned=tuple(parse(str(one)) for one in kept))

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        given_up = {"given up": ", ".join(map(str, self.abandoned))} if self.abandoned else {}
        return {**super().notes(), **given_up}


class ScienceScene(NamedTuple):
    """Knowledge of the player at the present step.

    Attributes:
        text: The last answer of the game.
        room: The room of the agent.
        view: Objects in view.
        carried: Objects in the inventory.
        done: Past actions with their answers.
        gap: Number of past actions before the last gap in the memory.
        cut: True if there is a gap or the beginning is missing.
        facts: Facts in the observation.
        sights: Rooms where objects were seen.
        lines_seen: Lines of objects in a view, or their containers.
        last: The pursuit of the last step.
        taken: True if the last action was the one pursued.
    """

    text: str
    room: str
    view: tuple[Thing, ...]
    carried: tuple[Thing, ...]
    done: tuple[tuple[Act, str], ...]
    gap: int
    cut: bool
    facts: tuple[Triple, ...]
    sights: dict[str, str]
    lines_seen: dict[str, str]
    last: Pursuit
    taken: bool

    @property
    def pursued(self) -> Act | None:
        """Return the action pursued at the last step, or None."""
        return self.last.act if self.last.act.verb else None

    @property
    def readings(self) -> tuple[tuple[int, bool], ...]:
        """Return measured temperatures in order, each with True if the object was liquid."""
        read: list[tuple[int, bool]] = []
        liquid = False
        for act, answer in self.done:
            if "pick up a liquid" in answer:
                liquid = True
            elif act.verb in ("examine", "use") and not is_refused(answer):
                liquid = liquid or "liquid" in f"{act} {answer}"
            read += [(int(found), liquid) for found in _READING.findall(answer)]
        kept = [fact.object for fact in self.facts if fact.relation == TEMPERATURE]
        return tuple(read or ((int(v), False) for v in kept if v.lstrip("-").isdigit()))

    @property
    def recipe(self) -> tuple[str, ...]:
        """Return the ingredients of the recipe, if it was read."""
        answers = [*(answer for _, answer in self.done), self.text]
        return next((found for answer in answers if (found := recipe_in(answer))), ())


def measured(done: Iterable[tuple[Act, str]]) -> dict[str, int]:
    """Return the stopwatch time, in ticks, of each object looked at before a reading."""
    found: dict[str, int] = {}
    watched = ""
    for act, answer in done:
        if act.verb == "look at" and not is_refused(answer):
            watched = act.things[0]
        ticks = _TICKS.search(answer)
        if ticks and watched:
            found[watched] = int(ticks[1])
    return found


def is_view(text: str) -> bool:
    """True if an answer describes the room."""
    return text.startswith("This ") and _CALLED.search(text) is not None


def is_move(act: Act) -> bool:
    """True if an action is a move or a look around."""
    return act.verb in ("go to", "look around") or (
        act.verb in ("open", "close") and act.things[0].startswith("door to")
    )


def is_refused(text: str) -> bool:
    """True if an answer refuses the action."""
    return _REFUSED.search(text) is not None


def room_of(text: str) -> str:
    """Return the room that an answer names; empty if none."""
    found = _MOVED.match(text) or (_CALLED.search(text) if text.startswith("This ") else None)
    return found[1].lower() if found else ""


def read_scene(obs: Observation, aim: Pursuit) -> ScienceScene:
    """Read an observation, given the aim of the last step."""
    text = obs["text"].strip()
    steps, gap, cut = _transcript(obs["memory"])
    facts = tuple(sorted(set(obs["triples"])))
    until = aim.until and parse(str(aim.until))
    last = dataclasses.replace(
        aim, act=parse(str(aim.act)) if aim.act.verb else NOTHING, until=until
    )
    rooms = [room for _, answer in steps if (room := room_of(answer))]
    stands = [fact.object for fact in facts if fact[:2] == (PLAYER, "is in")]
    room = room_of(text) or next(iter(stands + rooms[::-1]), "") or aim.room
    sights: dict[str, str] = {}
    kept: dict[str, str] = {}
    for fact in facts:
        if fact.relation.startswith("contains"):
            kept[fact.object] = f"{fact.subject} {fact.relation} {fact.object}"
            sights[fact.object] = room_holding(fact.subject, facts, room)
    where = ""
    for _, answer in steps:
        where = room_of(answer) or where
        if is_view(answer):
            sights.update((thing.name, where) for thing in things_in(answer))
            kept.update(things_in(answer))
            sights[f"room {where}"] = where
    for subject, relation, _ in facts:
        if relation == "contains":
            sights[f"room {subject}"] = subject
    taken = bool(last.act.verb) and not (last.deferred or is_view(text) or _MOVED.match(text))
    long_ago, done = merge_choices(steps[:gap]), merge_choices(steps[gap:])
    if done and (not done[-1][1] or done[-1][1].startswith(AMBIGUOUS)):
        done[-1] = (done[-1][0], text)  # the present text answers it
    elif taken:
        done.append((last.act, text))
    view = things_in(text) if is_view(text) else ()
    kept.update(view)
    return ScienceScene(
        text, room, view, things_in(obs["inventory"]), (*long_ago, *done), len(long_ago), cut,
        facts, sights, kept, last, taken,
    )  # fmt: skip


def merge_choices(steps: Iterable[tuple[Act, str]]) -> list[tuple[Act, str]]:
    done: list[tuple[Act, str]] = []
    for act, answer in steps:
        if done and act.verb.isdigit():
            done[-1] = (done[-1][0], answer)
        elif act.verb:
            done.append((act, answer))
    return done


@lru_cache(maxsize=64)
def _transcript(memory: str) -> tuple[tuple[tuple[Act, str], ...], int, bool]:
    """Return the actions and answers in a memory, ordered by step if it has step numbers.

    A single observation gets an action without a verb. The second value counts the steps before the
    last gap; the third is True if there is a gap or the beginning is missing.
    """
    before, entries = split_entries(memory)
    if before.startswith("This "):
        entries.insert(0, TranscriptStep(None, "", before))
    numbered: dict[int, TranscriptStep] = {}
    shown = []
    for entry in entries:
        if entry.t is None:
            shown.append(entry)
        elif entry.t not in numbered or len(entry.text) > len(numbered[entry.t].text):
            numbered[entry.t] = entry
    shown += [numbered[t] for t in sorted(numbered)]
    gap = len(shown) - 1 if shown else 0
    while gap and shown[gap].t == _next_step(shown[gap - 1].t):
        gap -= 1
    # a memory shows only the last answer of repeated actions
    for i in range(len(shown) - 1, 0, -1):
        if shown[i - 1][1:3] == (shown[i].action, "") and shown[i].t is not None:
            shown[i - 1] = shown[i - 1]._replace(text=shown[i].text)
    from_start = shown[gap].t in (0, 1) or not shown[gap].action if shown else False
    steps = tuple((parse(one.action), one.text.strip()) for one in shown)
    return steps, gap, not from_start


def _next_step(t: int | None) -> int | None:
    return None if t is None else t + 1


def room_holding(holder: str, facts: tuple[Triple, ...], here: str) -> str:
    """Return the room of a holder, preferably the present one."""
    if " in " in holder:
        return holder.rpartition(" in ")[2]
    rooms = [
        fact.subject.rpartition(" in ")[2] if " in " in fact.subject else fact.subject
        for fact in facts
        if fact.object == holder and fact.relation.startswith("contains")
    ]
    return here if here in rooms else next(iter(rooms), holder)

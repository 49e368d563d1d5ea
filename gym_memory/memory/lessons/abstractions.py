"""Rule-based versions of CLIN's memory generator and meta-memory.

Certainty is a ladder, DOES NOT - MAY NOT - MAY - SHOULD. A new abstraction starts on MAY or MAY
NOT, or on the outer rung if the trial confirms it twice. Each later trial moves it one rung:
outward if the trial confirms it, inward (or across) if the trial contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.memory.lessons.causes import (
    FINDING,
    FOLLOWING,
    NEW,
    OPENING,
    REACHING,
    SAYS,
    Need,
    TrialAction,
    idle_actions,
    needed_acts,
    read_trial,
    surroundings,
    vain_verbs,
    verb_of,
)
from gym_memory.memory.roles.base import CausalAbstraction, Learnings

__all__ = ["ALIVE", "PROGRESS", "SCORING", "abstract_causes", "generalize_causes"]

SCORING = "scoring"
PROGRESS = "getting anywhere"
ALIVE = "staying in the game"

_RUNGS = (-2, -1, 1, 2)
_MOST_USEFUL = 60
_MOST_PLACES = 40
_MOST_USELESS = 20
_CAUSE = re.compile(r'"(?P<action>.*)"(?: in the (?P<where>.+))?')
_MAX_PHRASE_CHARS = 200
_TOLD = (FOLLOWING, OPENING, SAYS)
_FEW = 2
"""Episodes that must agree."""

Key = tuple[str, str]
"""(cause, effect)."""


def abstract_causes(
    trace: Sequence[Step],
    outcome: Outcome,
    previous: Sequence[Sequence[CausalAbstraction]],
    task: Task,
    *,
    places: bool = True,
) -> list[CausalAbstraction]:
    """Return the memory after a trial, from its trace and the memory before it.

    At most 60 abstractions about acts and ways that help, in an order in which they can be done, 40
    about ``places``, and 20 about what does not help.
    """
    acts, graph = read_trial(trace, task)
    needed = needed_acts(acts)
    evidence = _evidence(acts, needed, outcome)
    for key in surroundings(acts, graph, len(trace)) if places else ():
        evidence.setdefault(key, 1)
    known = {(a.cause, a.effect): a for a in (previous[-1] if previous else ())}
    led = {cause for cause, effect in known if effect.startswith(REACHING)}
    rungs: dict[Key, int] = {}
    for key in _merged(list(evidence), list(known)):
        seen = evidence.get(key, 0)
        if key[1] == NEW and (key[0] in led or _done(key[0], acts)):
            continue  # visited
        if key not in known:
            rungs[key] = max(-2, min(seen, 2))
        else:
            sign = seen or _contradiction(known[key], acts, needed)
            rungs[key] = _moved(_rung(known[key]), sign)
    abstractions = [
        _abstraction(key, rung) for key, rung in rungs.items() if _says_something(key, rung)
    ]
    return _pruned(abstractions)


def _evidence(
    acts: Sequence[TrialAction], needed: Sequence[Need], outcome: Outcome
) -> dict[Key, int]:
    """Return how often a trial confirms a cause, negative for what did not contribute."""
    found: dict[Key, int] = {}
    for act, effect in needed:
        if act.reward > 0:
            name = SCORING
        elif act.moved:
            name = REACHING + act.to
        else:
            name = _quoted(effect.action) if effect else SCORING
        found.setdefault((_cause(act), name), 1)
    if outcome.lost and acts:
        found[_cause(acts[-1]), ALIVE] = -1
    for act in acts:
        key = (_cause(act), SCORING)
        if act.reward < 0 and found.get(key, 0) <= 0:
            found[key] = found.get(key, 0) - 1
    for verb in vain_verbs(acts, needed):
        found[_quoted(f"{verb} ..."), SCORING] = -1
    for action, times in idle_actions(acts, needed).items():
        found.setdefault((_quoted(action), PROGRESS), -times)
    return found


def _contradiction(
    known: CausalAbstraction, acts: Sequence[TrialAction], needed: Sequence[Need]
) -> int:
    """Return 1 or -1 where the trial, which does not bear it out, contradicts it; else 0."""
    pattern = _CausePattern.of(known.cause)
    done = [act for act in acts if pattern.matches(act)]
    if known.effect == SCORING and known.necessary:
        refuted = bool(done) and not any(act.reward > 0 for act in done)
    elif known.effect == SCORING:
        refuted = any(pattern.matches(item.act) for item in needed)
    elif known.effect == PROGRESS:
        needed_too = any(pattern.matches(item.act) for item in needed)
        refuted = needed_too or any(act.news for act in done)
    elif known.effect == ALIVE:
        refuted = bool(done)
    elif _about_places(known.effect):
        refuted = False
    elif known.effect.startswith(REACHING):
        place = known.effect.removeprefix(REACHING)
        refuted = known.necessary and bool(done) and not any(act.to == place for act in done)
    else:
        needing = _CausePattern.of(known.effect)
        first = min((act.number for act in done), default=len(acts))
        refuted = known.necessary and any(
            needing.matches(act) and act.changed for act in acts[:first]
        )
    if not refuted:
        return 0
    return -1 if known.necessary else 1


def _done(cause: str, acts: Sequence[TrialAction]) -> bool:
    pattern = _CausePattern.of(cause)
    return any(pattern.matches(act) for act in acts)


def _rung(known: CausalAbstraction) -> int:
    return (2 if known.certain else 1) * (1 if known.necessary else -1)


def _moved(rung: int, sign: int) -> int:
    step = (sign > 0) - (sign < 0)
    return _RUNGS[max(0, min(_RUNGS.index(rung) + step, len(_RUNGS) - 1))]


def _says_something(key: Key, rung: int) -> bool:
    """True unless an action may be necessary to get anywhere or to stay in the game."""
    return rung < 0 or key[1] not in (PROGRESS, ALIVE)


def _abstraction(key: Key, rung: int) -> CausalAbstraction:
    return CausalAbstraction(*key, necessary=rung > 0, certain=abs(rung) > 1)


def _merged(new: Sequence[Key], old: Sequence[Key]) -> list[Key]:
    order = list(new)
    before: Key | None = None
    for key in old:
        if key not in order:
            order.insert(order.index(before) + 1 if before else 0, key)
        before = key
    return order


def _pruned(abstractions: Sequence[CausalAbstraction]) -> list[CausalAbstraction]:
    """Return helpful abstractions in order; places; then useless ones, fatal mistakes first."""
    places = [a for a in abstractions if a.necessary and _about_places(a.effect)]
    places.sort(key=lambda a: a.effect != NEW)
    useful = [a for a in abstractions if a.necessary and not _about_places(a.effect)]
    verbs = {a.cause for a in abstractions if not a.necessary and a.cause.endswith(' ..."')}
    useless = [
        a
        for a in abstractions
        if not a.necessary
        and (a.effect == ALIVE or a.cause in verbs or _lifted(a.cause) not in verbs)
    ]
    useless.sort(key=lambda a: (a.effect != ALIVE, a.cause not in verbs, not a.certain))
    return useful[:_MOST_USEFUL] + places[:_MOST_PLACES] + useless[:_MOST_USELESS]


def _about_places(effect: str) -> bool:
    return effect == NEW or effect.startswith((FINDING, *_TOLD))


def generalize_causes(
    archive: Sequence[Learnings], task: Task, same_task: bool
) -> list[CausalAbstraction]:
    """Return a memory to start with, from the best trials of other episodes.

    For a new environment (``same_task``), general forms are added and kept, particular ones only
    where two episodes agree. For a new task only what was learnt about the environment is kept,
    uncertain. SHOULD and DOES NOT need two episodes, and half of all.
    """
    votes: dict[Key, list[int]] = {}
    for learnings in archive:
        mine: dict[Key, int] = {}
        for a in learnings.abstractions:
            sign = 1 if a.necessary else -1
            mine[a.cause, a.effect] = sign
            general = (_lifted(a.cause), _lifted(a.effect))
            if same_task and not a.effect.startswith((REACHING, *_TOLD)) and a.effect != NEW:
                mine[general] = max(sign, mine.get(general, sign))
        for key, sign in mine.items():
            votes.setdefault(key, []).append(sign)
    found = []
    for key, signs in votes.items():
        if same_task and (len(signs) < _FEW or key[1] == NEW) and _particular(key):
            continue
        if not same_task and key[1] in (SCORING, ALIVE):
            continue
        sure = same_task and len(signs) >= max(_FEW, len(archive) / 2)
        rung = (2 if sure else 1) * (1 if sum(signs) >= 0 else -1)
        if _says_something(key, rung):
            found.append(_abstraction(key, rung))
    helps = {a.cause for a in found if a.necessary}
    exact = {_lifted(a.effect) for a in found if _lifted(a.effect) != a.effect}
    found = [a for a in found if not (a.effect.startswith(FINDING) and a.effect in exact)]
    return _pruned([a for a in found if a.necessary or a.cause not in helps])


class _CausePattern(NamedTuple):
    """A pattern of a quoted cause's acts; an empty part matches any, no action none."""

    action: str | None
    verb: str
    where: str

    @classmethod
    def of(cls, cause: str) -> _CausePattern:
        found = _CAUSE.fullmatch(cause)
        if found is None:
            return cls(None, "", "")
        action, where = found["action"], found["where"] or ""
        verb = action.removesuffix(" ...") if action.endswith(" ...") else ""
        return cls(action, verb, where)

    def matches(self, act: TrialAction) -> bool:
        if self.action is None or (self.where and _plain(act.where) != self.where):
            return False
        return verb_of(act.action) == self.verb if self.verb else _plain(act.action) == self.action


def _particular(key: Key) -> bool:
    return _lifted(key[0]) != key[0] or _about_places(key[1])


def _plain(text: str) -> str:
    return " ".join(text.split())[:_MAX_PHRASE_CHARS]


def _quoted(action: str) -> str:
    return f'"{_plain(action)}"'


def _cause(act: TrialAction) -> str:
    return _quoted(act.action) + (f" in the {_plain(act.where)}" if act.where else "")


def _lifted(text: str) -> str:
    """Return a quoted action with only its verb, a thing without its holder."""
    found = _CAUSE.fullmatch(text)
    if found is not None:
        return _quoted(f"{verb_of(found['action'])} ...")
    return text.partition(" in the ")[0] if text.startswith(FINDING) else text

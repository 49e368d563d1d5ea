"""Aims, moves and plans of rule-based players, and their detection of new observations."""

from __future__ import annotations

import dataclasses
import enum
import zlib
from typing import Any, NamedTuple

from gym_memory.core.records import Observation, PlanState, changed
from gym_memory.graph.schema import OPPOSITE

__all__ = ["Aim", "Exit", "Kind", "Move", "Plan", "RulePlan", "if_any", "track_novelty"]

_RECOGNIZED_OBSERVATIONS = 24
"""Number of latest observations that are recognized when they recur."""
_HASHES = 26 * 26
"""Number of hash values, kept so small that they cannot serve as a memory."""


@dataclasses.dataclass(frozen=True)
class RulePlan(PlanState):
    """A plan of a rule-based player.

    ``idle`` counts steps since the last new observation; ``seen`` has hashes of the latest
    observations, in order.
    """

    idle: int = 0
    seen: tuple[int, ...] = ()

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        idle = {"nothing new for": f"{self.idle} steps"} if self.idle else {}
        return {**super().notes(), **idle}


def track_novelty(state: RulePlan, text: str, inventory: str) -> tuple[int, tuple[int, ...]]:
    """Return ``idle`` and ``seen`` of a plan after one more observation."""
    mark = zlib.crc32(f"{text}\n{inventory}".encode("utf-8", "replace")) % _HASHES
    again = mark in state.seen
    others = tuple(one for one in state.seen if one != mark) if again else state.seen
    return state.idle + 1 if again else 0, (*others, mark)[-_RECOGNIZED_OBSERVATIONS:]


Exit = tuple[str, str]
"""(place, direction)."""

_MAX_GIVEN_UP = 4
_MAX_VAIN_ACTIONS = 8
_MAX_KEY_CHARS = 60
_MAX_FAILURES = 3


class Kind(enum.Enum):
    """A kind of aim; it decides when an aim is given up."""

    OTHER = enum.auto()
    EXPLORE = enum.auto()
    WANDER = enum.auto()
    SURVEY = enum.auto()
    SEARCH = enum.auto()
    """A second search of every place, when nothing else is left to do."""
    FIND = enum.auto()
    COOK = enum.auto()
    TIDY = enum.auto()
    READ = enum.auto()
    """A look at something, given up after one failure because a second look shows nothing new."""
    TRY = enum.auto()


_EXPLORING = (Kind.EXPLORE, Kind.WANDER, Kind.SURVEY)
_RECURRING = (*_EXPLORING, Kind.SEARCH, Kind.FIND, Kind.COOK, Kind.TIDY)
"""Kinds of aims that may recur, because they search or have several parts."""
_REPEATABLE = (Kind.WANDER, Kind.SURVEY, Kind.COOK, Kind.TIDY)
"""Kinds of aims that may repeat an action, because no other is left or they wait for a recall."""
_AFTER_VAIN_SEARCH = (Kind.WANDER, Kind.SURVEY, Kind.TIDY)
"""Kinds of aims that follow a search without result."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """An aim of a player, and the way there.

    ``exit`` is the unexplored exit to pass, ``route`` has the directions left to walk, and
    ``instruction`` is the number of the task's instruction that it serves (0 for none).
    """

    text: str
    kind: Kind = Kind.OTHER
    exit: Exit | None = None
    route: tuple[str, ...] = ()
    instruction: int = 0

    @property
    def waits(self) -> bool:
        """True if the aim is to wait for a change."""
        return False

    def __str__(self) -> str:
        through = f", {self.exit[1]} of {self.exit[0]}" if self.exit else ""
        return self.text + through + (f", by {' '.join(self.route)}" if self.route else "")

    @property
    def key(self) -> Aim:
        """Return the aim without exit and route, which change on the way."""
        return Aim(self.text[:_MAX_KEY_CHARS], self.kind)


class Move(NamedTuple):
    """An action and its aim."""

    action: str
    aim: Aim


def if_any(move: Move | None) -> tuple[Move, ...]:
    """Return a tuple of one move, or an empty one for None."""
    return () if move is None else (move,)


@dataclasses.dataclass(frozen=True)
class Plan(RulePlan):
    """A plan of a player that follows typed aims.

    ``done`` counts finished instructions of the task. ``astray`` is True if the task's directions
    no longer apply, ``searched`` if every room was searched. ``given_up`` has failed aims with
    their numbers of failures. ``vain`` has the latest actions without effect in the present
    ``situation``, a hash of place, inventory and valid actions.
    """

    aim: Aim = Aim("")
    done: int = 0
    astray: bool = False
    given_up: tuple[tuple[Aim, int], ...] = ()
    searched: bool = False
    situation: int = 0
    vain: tuple[str, ...] = ()

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        others = super().notes()
        shown = {
            "last action": others.pop("last action", ""),
            "done": f"{self.done}{' (then went elsewhere)' * self.astray}" if self.done else "",
            "given up": ", ".join(f"{aim} ({times}x)" for aim, times in self.given_up),
            "searched": "everything" * self.searched,
            **others,
        }
        return {name: text for name, text in shown.items() if text}

    def in_situation(self, place: str, obs: Observation) -> Plan:
        """Return the plan updated by the situation after the last action."""
        parts = (place, obs["inventory"], *obs["valid_actions"])
        situation = zlib.crc32("\n".join(parts).encode("utf-8", "replace"))
        vain = tuple(action for action in self.vain if action != self.action)
        if situation != self.situation:
            vain = ()
        elif self.idle:
            vain = (*vain, self.action)[-_MAX_VAIN_ACTIONS:]
        return changed(self, situation=situation, vain=vain)

    def is_vain(self, move: Move) -> bool:
        """True if a move had no effect here; a look with a new aim is a new query to the memory."""
        looks = move.action == "look" and move.aim.key != self.aim.key
        return move.action in self.vain and not looks

    def has_given_up(self, aim: Aim) -> bool:
        """True if an aim failed too often."""
        enough = 1 if aim.kind is Kind.READ else _MAX_FAILURES
        return bool(self.given_up) and dict(self.given_up).get(aim.key, 0) >= enough

    def give_up(self, aim: Aim) -> Plan:
        """Return the plan with an aim marked as failed."""
        others = tuple(one for one in self.given_up if one[0] != aim.key)
        return changed(self, given_up=(*others, (aim.key, _MAX_FAILURES))[-_MAX_GIVEN_UP:])

    def resume_exploring(self) -> Plan:
        """Return the plan with exploring aims allowed again, because something new was seen."""
        kept = tuple(one for one in self.given_up if one[0].kind not in _EXPLORING)
        return self if kept == self.given_up else changed(self, given_up=kept)

    def after(self, move: Move) -> Plan:
        """Return the plan after a move was chosen.

        The aim gets one more failure if it repeats the last action, turns back (unless towards an
        unexplored exit) or follows wandering.
        """
        aim, action = move.aim, move.action
        done = aim.instruction or self.done
        went = self.astray or (not aim.instruction and action.startswith("go "))
        given_up = dict(self.given_up)
        if self._leads_nowhere(move):
            times = given_up.pop(aim.key, 0) + 1
            given_up[aim.key] = min(times, _MAX_FAILURES)
        over = self.aim.kind is Kind.SEARCH and aim.kind in _AFTER_VAIN_SEARCH
        return changed(
            self,
            aim=aim,
            action=action,
            done=done,
            astray=went and done > 0,
            given_up=tuple(given_up.items())[-_MAX_GIVEN_UP:],
            searched=(self.searched or over) and not action.startswith("unlock "),
        )

    def pack(self) -> dict[str, Any]:
        """Return the plan as JSON-able values."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        given_up = [[_pack(aim), times] for aim, times in self.given_up]
        return {**own, "aim": _pack(self.aim), "given_up": given_up}

    @classmethod
    def unpack(cls, packed: dict[str, Any]) -> Plan:
        """Return the inverse of :meth:`pack`."""
        given_up = tuple((_unpack(aim), times) for aim, times in packed["given_up"])
        own = {**packed, "aim": _unpack(packed["aim"]), "given_up": given_up}
        return cls(**{**own, "seen": tuple(packed["seen"]), "vain": tuple(packed["vain"])})

    def _leads_nowhere(self, move: Move) -> bool:
        if move.action == self.action and not move.action.startswith("go "):
            return move.aim.kind not in _REPEATABLE
        if move.aim.kind in _RECURRING:
            return False
        if self.aim.kind is Kind.WANDER:
            return True
        if self.aim.exit and not self.aim.route:
            return False
        back = OPPOSITE[self.action.removeprefix("go ")]
        return self.action.startswith("go ") and move.action == f"go {back}"


def _pack(aim: Aim) -> dict[str, Any]:
    own = {field.name: getattr(aim, field.name) for field in dataclasses.fields(aim)}
    return {**own, "kind": aim.kind.name, "class": type(aim).__name__}


def _unpack(packed: dict[str, Any]) -> Aim:
    kinds: list[type[Aim]] = [Aim, *Aim.__subclasses__()]
    classes = {aim.__name__: aim for aim in kinds}
    own = {name: _frozen(value) for name, value in packed.items() if name != "class"}
    return classes[packed["class"]](**{**own, "kind": Kind[packed["kind"]]})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value

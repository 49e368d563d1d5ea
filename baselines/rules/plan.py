"""Aims, moves and plans of rule-based players, and the test if one still sees anything new."""

from __future__ import annotations

import dataclasses
import enum
import zlib
from typing import Any, NamedTuple

from gym_memory.core.records import Observation, PlanState, changed
from gym_memory.graph.schema import OPPOSITE

__all__ = ["Aim", "Exit", "Kind", "Move", "Plan", "RulePlan", "only", "saw"]

_RECOGNIZED_OBSERVATIONS = 24
"""Number of latest observations that are recognized."""
_HASHES = 26 * 26
"""Number of hashes: so few that two observations may share one, so they are no memory."""


@dataclasses.dataclass(frozen=True)
class RulePlan(PlanState):
    """A plan of a rule-based player.

    ``idle`` counts the steps since something new was seen, ``seen`` has hashes of the latest
    observations, the latest last.
    """

    idle: int = 0
    seen: tuple[int, ...] = ()

    def notes(self) -> dict[str, str]:
        """Return what there is to show next to the aim, by name."""
        idle = {"nothing new for": f"{self.idle} steps"} if self.idle else {}
        return {**super().notes(), **idle}


def saw(state: RulePlan, text: str, inventory: str) -> tuple[int, tuple[int, ...]]:
    """Return the steps without anything new and the latest observations, after one more."""
    mark = zlib.crc32(f"{text}\n{inventory}".encode("utf-8", "replace")) % _HASHES
    again = mark in state.seen
    others = tuple(one for one in state.seen if one != mark) if again else state.seen
    return state.idle + 1 if again else 0, (*others, mark)[-_RECOGNIZED_OBSERVATIONS:]


# ------------------------------------------------------------ typed aims

Exit = tuple[str, str]
"""(place, direction)."""

_MOST_AIMS = 4
_MOST_VAIN_ACTIONS = 8
_MAX_KEY_CHARS = 60
_MOST_FAILURES = 3


class Kind(enum.Enum):
    """Kinds of aims, which decide when an aim is given up."""

    OTHER = enum.auto()
    EXPLORE = enum.auto()
    WANDER = enum.auto()
    SURVEY = enum.auto()
    SEARCH = enum.auto()
    """A second search of every place, since nothing else is left to do."""
    FIND = enum.auto()
    COOK = enum.auto()
    TIDY = enum.auto()
    READ = enum.auto()
    """A look at something: a second one shows nothing new."""
    TRY = enum.auto()


_EXPLORING = (Kind.EXPLORE, Kind.WANDER, Kind.SURVEY)
_AIMLESS = (*_EXPLORING, Kind.SEARCH, Kind.FIND, Kind.COOK, Kind.TIDY)
"""Kinds of aims that may recur: they search, or change as parts are done."""
_IDLE = (Kind.WANDER, Kind.SURVEY, Kind.COOK, Kind.TIDY)
"""Kinds of aims that may repeat an action: they have no other, or wait for a recall."""
_AFTER_SEARCH = (Kind.WANDER, Kind.SURVEY, Kind.TIDY)
"""Kinds of aims after a search without result."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """An aim of a player, and the way there.

    ``exit`` is the unexplored exit to pass, ``route`` the directions left to walk, ``instruction``
    the number of the task's instruction behind it, 0 for none.
    """

    text: str
    kind: Kind = Kind.OTHER
    exit: Exit | None = None
    route: tuple[str, ...] = ()
    instruction: int = 0

    @property
    def waits(self) -> bool:
        """True if the player only waits for a change."""
        return False

    def __str__(self) -> str:
        through = f", {self.exit[1]} of {self.exit[0]}" if self.exit else ""
        return self.text + through + (f", by {' '.join(self.route)}" if self.route else "")

    @property
    def key(self) -> Aim:
        """Return the aim without the way there, which changes while it is pursued."""
        return Aim(self.text[:_MAX_KEY_CHARS], self.kind)


class Move(NamedTuple):
    """An action and its aim."""

    action: str
    aim: Aim


def only(move: Move | None) -> tuple[Move, ...]:
    """Return the one move that an advisor proposes, or none."""
    return () if move is None else (move,)


@dataclasses.dataclass(frozen=True)
class Plan(RulePlan):
    """A plan of a player that follows typed aims.

    ``done`` counts finished instructions of the task; ``astray``: its directions no longer apply;
    ``given_up``: failed aims and how often they failed; ``searched``: every room was searched.
    ``vain`` are the latest actions without effect in the present ``situation``, a hash of place,
    inventory and valid actions.
    """

    aim: Aim = Aim("")
    done: int = 0
    astray: bool = False
    given_up: tuple[tuple[Aim, int], ...] = ()
    searched: bool = False
    situation: int = 0
    vain: tuple[str, ...] = ()

    def notes(self) -> dict[str, str]:
        """Return what to show beside the aim, by name."""
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
        """Return the plan with the situation that the last action led to."""
        parts = (place, obs["inventory"], *obs["valid_actions"])
        situation = zlib.crc32("\n".join(parts).encode("utf-8", "replace"))
        vain = tuple(action for action in self.vain if action != self.action)
        if situation != self.situation:
            vain = ()
        elif self.idle:
            vain = (*vain, self.action)[-_MOST_VAIN_ACTIONS:]
        return changed(self, situation=situation, vain=vain)

    def is_vain(self, move: Move) -> bool:
        """True if a move had no effect here; a look for another aim asks the memory again."""
        looks = move.action == "look" and move.aim.key != self.aim.key
        return move.action in self.vain and not looks

    def has_given_up(self, aim: Aim) -> bool:
        """True if an aim failed often enough to try something else."""
        enough = 1 if aim.kind is Kind.READ else _MOST_FAILURES
        return bool(self.given_up) and dict(self.given_up).get(aim.key, 0) >= enough

    def give_up(self, aim: Aim) -> Plan:
        """Return the plan without an aim, which failed."""
        others = tuple(one for one in self.given_up if one[0] != aim.key)
        return changed(self, given_up=(*others, (aim.key, _MOST_FAILURES))[-_MOST_AIMS:])

    def take_up(self) -> Plan:
        """Return the plan after something new: exploring makes sense again."""
        kept = tuple(one for one in self.given_up if one[0].kind not in _EXPLORING)
        return self if kept == self.given_up else changed(self, given_up=kept)

    def after(self, move: Move) -> Plan:
        """Return the plan after a move was chosen.

        An aim counts as failed once if its action is repeated, if it turns the player round (unless
        towards an unexplored exit), or if it follows wandering.
        """
        aim, action = move.aim, move.action
        done = aim.instruction or self.done
        went = self.astray or (not aim.instruction and action.startswith("go "))
        given_up = dict(self.given_up)
        if self._leads_nowhere(move):
            times = given_up.pop(aim.key, 0) + 1
            given_up[aim.key] = min(times, _MOST_FAILURES)
        over = self.aim.kind is Kind.SEARCH and aim.kind in _AFTER_SEARCH
        return changed(
            self,
            aim=aim,
            action=action,
            done=done,
            astray=went and done > 0,
            given_up=tuple(given_up.items())[-_MOST_AIMS:],
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
            return move.aim.kind not in _IDLE
        if move.aim.kind in _AIMLESS:
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

"""What a player with rules is after, and what it notes while it pursues that."""

from __future__ import annotations

import dataclasses
import enum
import zlib
from typing import Any, NamedTuple

from gym_memory.core.records import PlanState
from gym_memory.graph.schema import OPPOSITE

__all__ = ["Aim", "Exit", "Kind", "Move", "Plan", "only", "saw"]

Exit = tuple[str, str]
"""(place, direction)."""

_MOST_AIMS = 4
_MAX_KEY_CHARS = 60
_ENOUGH = 3
_LATEST = 24
"""Observations that are recognized."""
_HASHES = 26 * 26
"""So few that two observations may share one: recognizing is no memory of the game."""


class Kind(enum.Enum):
    """Say how an aim is treated when it is taken up again."""

    OTHER = enum.auto()
    EXPLORE = enum.auto()
    WANDER = enum.auto()
    SURVEY = enum.auto()
    SEARCH = enum.auto()
    """Search everything once more, because nothing else is left to do."""
    FIND = enum.auto()
    COOK = enum.auto()
    TIDY = enum.auto()
    READ = enum.auto()
    """Look at something: a second time shows nothing new, even to a player who forgot the first."""
    TRY = enum.auto()


_EXPLORING = (Kind.EXPLORE, Kind.WANDER, Kind.SURVEY)
_AIMLESS = (*_EXPLORING, Kind.SEARCH, Kind.FIND, Kind.COOK, Kind.TIDY)
"""Aims that may be taken up again and again: they search, or change as things get done."""
_IDLE = (Kind.WANDER, Kind.SURVEY, Kind.COOK, Kind.TIDY)
"""Aims for which an action may be repeated: they know of no other, or pause on purpose."""
_AFTER_SEARCH = (Kind.WANDER, Kind.SURVEY, Kind.TIDY)
"""Aims that follow when even a search led nowhere."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """Name what is to be reached, with the way there.

    ``exit`` is the unexplored exit that leads there, ``route`` the directions left to walk,
    ``instruction`` the number of the task's instruction that it follows, 0 for none.
    """

    text: str
    kind: Kind = Kind.OTHER
    exit: Exit | None = None
    route: tuple[str, ...] = ()
    instruction: int = 0

    @property
    def waits(self) -> bool:
        """True if nothing is to be expected until something else changes."""
        return False

    def __str__(self) -> str:
        through = f", {self.exit[1]} of {self.exit[0]}" if self.exit else ""
        return self.text + through + (f", by {' '.join(self.route)}" if self.route else "")

    @property
    def key(self) -> Aim:
        """Return what stays the same while it is pursued: the way there is left out."""
        return Aim(self.text[:_MAX_KEY_CHARS], self.kind)


class Move(NamedTuple):
    """Pair an action with what it is for."""

    action: str
    aim: Aim


def only(move: Move | None) -> tuple[Move, ...]:
    """Return the one move that an advisor proposes, or none."""
    return () if move is None else (move,)


@dataclasses.dataclass(frozen=True)
class Plan(PlanState):
    """Hold the plan of a player that is led by typed aims."""

    aim: Aim = Aim("")
    given_up: tuple[tuple[Aim, int], ...] = ()

    def has_given_up(self, aim: Aim) -> bool:
        """True if an aim led nowhere so often that something else should be tried."""
        enough = 1 if aim.kind is Kind.READ else _ENOUGH
        return dict(self.given_up).get(aim.key, 0) >= enough

    def give_up(self, aim: Aim) -> Plan:
        """Return the plan with an aim that led nowhere."""
        others = tuple(one for one in self.given_up if one[0] != aim.key)
        return dataclasses.replace(self, given_up=(*others, (aim.key, _ENOUGH))[-_MOST_AIMS:])

    def take_up(self) -> Plan:
        """Return the plan once something new was seen: one may explore again."""
        kept = tuple(one for one in self.given_up if one[0].kind not in _EXPLORING)
        return dataclasses.replace(self, given_up=kept)

    def after(self, move: Move) -> Plan:
        """Return the plan once a move is chosen.

        An aim is suspected to lead nowhere when its action is repeated, when it turns the player
        round (but for an unexplored exit: a search meets dead ends), and when it is taken up again
        after wandering.
        """
        aim, action = move.aim, move.action
        done = aim.instruction or self.done
        went = self.astray or (not aim.instruction and action.startswith("go "))
        given_up = dict(self.given_up)
        if self._leads_nowhere(move):
            times = given_up.pop(aim.key, 0) + 1
            given_up[aim.key] = min(times, _ENOUGH)
        over = self.aim.kind is Kind.SEARCH and aim.kind in _AFTER_SEARCH
        return dataclasses.replace(
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
        return cls(**{**own, "seen": tuple(packed["seen"])})

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


def saw(state: PlanState, text: str, inventory: str) -> tuple[int, tuple[int, ...]]:
    """Return how long nothing new was seen, and the latest observations, once one more is seen."""
    mark = zlib.crc32(f"{text}\n{inventory}".encode("utf-8", "replace")) % _HASHES
    others = tuple(one for one in state.seen if one != mark)
    again = len(others) < len(state.seen)
    return state.idle + 1 if again else 0, (*others, mark)[-_LATEST:]

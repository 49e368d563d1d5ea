"""The plan that a player publishes, which is also all that it keeps from step to step.

It reads ``aim | done: 2 | stuck: fetch bowl x3 | last: go west``: what the player is after, how far
it got in what the task asks step by step, which aims led nowhere, and its last action. The two in
the middle are there only where there is something to say.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gym_memory.graph.schema import DIRECTIONS, OPPOSITE

__all__ = ["ALL_DONE", "LAST", "NEW_EXIT", "READING", "SEARCH", "Move", "Notes", "key_of", "only"]

_DIRECTION = "|".join(DIRECTIONS)
NEW_EXIT = re.compile(
    rf", (?P<direction>{_DIRECTION}) of (?P<place>[^|,]+?)(?:(?P<far>, by )| \||$)"
)
"""The exit that nobody took and that an aim leads to; ``far`` while it is not in this place."""
ALL_DONE = "all done"
"""What an aim ends in whose player waits on purpose."""
SEARCH = "search "
"""How aims begin that go round everything once more, because nothing else is left to do."""
LAST = " | last: "
"""What stands between the notes of a plan and its last action."""
_DONE = re.compile(r" \| done: (?P<done>\d+)(?P<astray>\?)?")
_SEARCHED = " | searched"
_STUCK = re.compile(r" \| stuck: (?P<aims>.+?) \| last: ")
_AIM = re.compile(r"(?P<aim>.+) x(?P<times>\d+)")
_ROUTE = re.compile(rf", (?:by|(?:{_DIRECTION}) of) .*")
_EXPLORING = ("explore", "wander", "survey", "look round")
_AIMLESS = (*_EXPLORING, SEARCH, "find ", "cook: ", "tidy: ")
"""Aims that may be taken up again and again: they search, or change as things get done."""
_FOLLOWED = re.compile(r"do (?P<number>\d+): ")
_IDLE = ("wander", "survey", "cook: ", "tidy: ")
"""Aims for which an action may be repeated: they know of no other, or pause on purpose."""
_AFTER_SEARCH = ("wander", "survey", "tidy: ")
"""What is done once even that led nowhere."""
READING = ("read ", "look at ")
"""Aims of which a second time tells nothing new, even to a player who has forgotten the first."""
_MOST_AIMS = 4
_MAX_AIM_CHARS = 60
_ENOUGH = 3


class Move(NamedTuple):
    """An action and what it is for; as text, the plan that a policy publishes."""

    action: str
    aim: str

    def __str__(self) -> str:
        return f"{self.aim}{LAST}{self.action}"

    @classmethod
    def read(cls, plan: str) -> Move:
        """The move that a published plan ends in; an empty one where none is published.

        >>> Move.read("explore | stuck: fetch bowl x1 | last: go east")
        Move(action='go east', aim='explore')
        """
        aim, _, action = plan.rpartition(LAST)
        return cls(action, aim.partition(" | ")[0])


def only(move: Move | None) -> tuple[Move, ...]:
    """The one thing that an advisor says, or nothing."""
    return () if move is None else (move,)


def key_of(aim: str) -> str:
    """What stays the same of an aim while it is pursued: the way there is left out.

    >>> key_of("fetch bowl, by east south")
    'fetch bowl'
    """
    return _ROUTE.sub("", aim.partition(" | ")[0])[:_MAX_AIM_CHARS].replace(";", ",")


class Notes(NamedTuple):
    """What a plan says besides its aim and its action.

    Attributes:
        done: Instructions of the task that were followed.
        astray: Whether the player went elsewhere since then, so that directions are void.
        stuck: Aims that led nowhere, and how often.
        searched: Whether everything was gone round once more, and no lock has opened since.
    """

    done: int = 0
    astray: bool = False
    stuck: tuple[tuple[str, int], ...] = ()
    searched: bool = False

    @classmethod
    def read(cls, plan: str) -> Notes:
        """The notes in a published plan.

        >>> Notes.read("wander | done: 2? | stuck: fetch bowl x3; go up x1 | last: look")
        Notes(done=2, astray=True, stuck=(('fetch bowl', 3), ('go up', 1)), searched=False)
        """
        done, stuck = _DONE.search(plan), _STUCK.search(plan)
        aims = stuck["aims"].split("; ") if stuck else ()
        counted = (found for aim in aims if (found := _AIM.fullmatch(aim)))
        return cls(
            int(done["done"]) if done else 0,
            bool(done and done["astray"]),
            tuple((found["aim"], int(found["times"])) for found in counted),
            _SEARCHED in plan,
        )

    def has_given_up(self, aim: str) -> bool:
        """Whether an aim led nowhere so often that something else should be tried."""
        enough = 1 if aim.startswith(READING) else _ENOUGH
        return dict(self.stuck).get(key_of(aim), 0) >= enough

    def give_up(self, aim: str) -> Notes:
        """The notes with an aim that led nowhere."""
        others = tuple(one for one in self.stuck if one[0] != key_of(aim))
        return self._replace(stuck=(*others, (key_of(aim), _ENOUGH))[-_MOST_AIMS:])

    def take_up(self) -> Notes:
        """The notes once something new was seen: one may explore again."""
        return self._replace(stuck=tuple(a for a in self.stuck if not a[0].startswith(_EXPLORING)))

    def after(self, last: Move, move: Move) -> Notes:
        """The notes once ``move`` is chosen after ``last``.

        An aim is suspected to lead nowhere when its action is repeated, when it turns the player
        round (but for a way that nobody took: who searches meets dead ends), and when it is taken
        up again after wandering.
        """
        followed = _FOLLOWED.match(move.aim)
        done, astray = self.done, self.astray
        if followed:
            done = int(followed["number"])
        elif move.action.startswith("go "):
            astray = True
        stuck = dict(self.stuck)
        if _leads_nowhere(last, move):
            times = stuck.pop(key_of(move.aim), 0) + 1
            stuck[key_of(move.aim)] = min(times, _ENOUGH)
        over = last.aim.startswith(SEARCH) and move.aim.startswith(_AFTER_SEARCH)
        searched = (self.searched or over) and not move.action.startswith("unlock ")
        return Notes(done, astray, tuple(stuck.items())[-_MOST_AIMS:], searched)

    def written_into(self, move: Move) -> str:
        """The plan to publish."""
        middle = f" | done: {self.done}{'?' * self.astray}" if self.done else ""
        if self.searched:
            middle += _SEARCHED
        if self.stuck:
            middle += " | stuck: " + "; ".join(f"{aim} x{times}" for aim, times in self.stuck)
        return f"{move.aim}{middle}{LAST}{move.action}"


def _leads_nowhere(last: Move, move: Move) -> bool:
    if move.action == last.action and not move.action.startswith("go "):
        return not move.aim.startswith(_IDLE)
    if move.aim.startswith(_AIMLESS):
        return False
    if last.aim.startswith("wander"):
        return True
    exit_ = NEW_EXIT.search(last.aim)
    if exit_ is not None and not exit_["far"]:
        return False
    back = OPPOSITE[last.action.removeprefix("go ")]
    return last.action.startswith("go ") and move.action == f"go {back}"

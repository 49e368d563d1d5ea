"""What one NetHack observation shows: numbers, creatures, and a map of what is recalled.

Built anew from every observation: recalled facts first, then what the text says. A policy that
uses it knows what its memory recalls and what is in view, and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gym_memory.core.records import Observation, PlanState, Step, Task
from gym_memory.extract import get_extractor
from gym_memory.extract.base import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place

__all__ = ["Descent", "Situation"]

_STATUS = re.compile(
    r"HP (?P<hp>-?\d+) of (?P<most>\d+), .*?experience level (?P<level>\d+), .*?turn (?P<turn>\d+)"
    r"(?:; you are (?P<state>[^.]*))?"
)
_LISTED = re.compile(r"^- monsters: (.+)$", re.MULTILINE)
_CREATURE = re.compile(r"([^;(]+?) \(([^;()]*)\)")
_DEPTH = re.compile(r"(\d+)$")


@dataclass(frozen=True)
class Descent(PlanState):
    """The plan of a descender; ``idle`` counts actions in a row that took no time.

    Attributes:
        turn: Turn of the game at the last action.
        prayed: Turn of the last prayer; 0 if there was none.
    """

    aim: str = ""
    turn: int = 0
    prayed: int = 0

    def notes(self) -> dict[str, str]:
        """Return what there is to show besides the aim, by name."""
        prayed = {"prayed": f"at turn {self.prayed}"} if self.prayed else {}
        return {**super().notes(), "turn": str(self.turn), **prayed}


class Situation:
    """What can be concluded from one observation.

    Args:
        obs: The observation.
        task: The task.

    Attributes:
        here: Full name of the room or corridor; "" if unknown.
        level: Name of the level.
        hp: Share of the hit points, in [0, 1].
        points: Hit points.
        experience: Experience level.
        turn: Turn of the game.
        condition: Hunger and other conditions in words.
        near: Names of creatures next to the player.
    """

    def __init__(self, obs: Observation, task: Task):
        self.text, self.actions = obs["text"], obs["valid_actions"]
        self.inventory = obs["inventory"]
        self.graph = TemporalGraph()
        for triple in reversed(obs["triples"]):
            self.graph.add(triple, 0)
        step = Step(1, self.text, inventory=obs["inventory"])
        apply(get_extractor(task.dialect).extract(step, self.graph, task), self.graph, 1)
        self.here = current_place(self.graph) or ""
        self.level = self.here.partition(" of ")[2]
        status = _STATUS.search(self.text)
        self.points = int(status["hp"]) if status else 1
        self.hp = self.points / max(int(status["most"]), 1) if status else 1.0
        self.experience = int(status["level"]) if status else 1
        self.turn = int(status["turn"]) if status else 0
        self.condition = (status["state"] or "") if status else ""
        listed = _LISTED.search(self.text)
        creatures = _CREATURE.findall(listed[1]) if listed else []
        self.near = [name for name, where in creatures if _steps(where) == 1]

    @property
    def depth(self) -> int:
        """Number of the level."""
        found = _DEPTH.search(self.level)
        return int(found[1]) if found else 1

    def options(self, *starts: str) -> list[str]:
        """Valid actions that begin with one of the texts."""
        return [action for action in self.actions if action.startswith(starts)]

    def way_down(self) -> str:
        """The room or corridor of this level with stairs down, as far as known; "" if none is."""
        for kind in ("stairs down", "ladder down", "stairs down 2"):
            fact = self.graph.value(f"{kind} of {self.level}", "location")
            if fact is not None:
                return fact.object
        return ""

    def locked_door(self) -> tuple[str, str]:
        """A locked door of this level and an area that it leads out of; empty if none is known."""
        for fact in self.graph.live():
            door, _, level = fact.subject.partition(" of ")
            if fact.relation == "is" and fact.object == "locked" and level == self.level:
                for exit_ in self.graph.incoming(door):
                    if exit_.subject.endswith(f" of {level}"):
                        return door, exit_.subject
        return "", ""


def _steps(where: str) -> int:
    numbers = [int(n) for n in re.findall(r"\d+", where)]
    return max(numbers, default=0)

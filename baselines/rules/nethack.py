"""A NetHack player that explores levels, fights and descends.

Its only state is its published plan. It gains experience before it descends, so it often finds
stairs early and must later find them again in the text, in the recall or by exploring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gym_memory.baselines.rules.base import RulePolicy
from gym_memory.baselines.rules.plan import RulePlan
from gym_memory.core.records import Observation, Step, Task
from gym_memory.core.settings import check_int
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place

__all__ = ["Descender", "Descent", "DungeonView"]

_STATUS = re.compile(
    r"HP (?P<hp>-?\d+) of (?P<most>\d+), .*?experience level (?P<level>\d+), .*?turn (?P<turn>\d+)"
    r"(?:; you are (?P<state>[^.]*))?"
)
_LISTED = re.compile(r"^- monsters: (.+)$", re.MULTILINE)
_CREATURE = re.compile(r"([^;(]+?) \(([^;()]*)\)")
_STEPS = re.compile(r"\d+")
_DEPTH = re.compile(r"(\d+)$")


@dataclass(frozen=True)
class Descent(RulePlan):
    """A plan of a descender, with the turns of its last action and last prayer (0 for none).

    ``idle`` counts consecutive actions that took no game time.
    """

    aim: str = ""
    turn: int = 0
    prayed: int = 0

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        prayed = {"prayed": f"at turn {self.prayed}"} if self.prayed else {}
        return {**super().notes(), "turn": str(self.turn), **prayed}


class DungeonView:
    """A dungeon as shown by one observation and its recall.

    ``here`` is the full name of the room or corridor, empty if unknown, ``hp`` the share of hit
    points in [0, 1], and ``near`` has the adjacent creatures.
    """

    def __init__(self, obs: Observation, task: Task):
        self.text, self.actions = obs["text"], obs["valid_actions"]
        self.inventory = obs["inventory"]
        self.graph = TemporalGraph.of(reversed(obs["triples"]))
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
        self.near = [
            name
            for name, where in creatures
            if max(map(int, _STEPS.findall(where)), default=0) == 1
        ]

    @property
    def depth(self) -> int:
        """Return the number of the level, >= 1."""
        found = _DEPTH.search(self.level)
        return int(found[1]) if found else 1

    def options(self, *starts: str) -> list[str]:
        """Return the valid actions that begin with one of the texts."""
        return [action for action in self.actions if action.startswith(starts)]

    def way_down(self) -> str:
        """Return the room or corridor of this level with stairs down; empty if unknown."""
        for kind in ("stairs down", "ladder down", "stairs down 2"):
            fact = self.graph.value(f"{kind} of {self.level}", "location")
            if fact is not None:
                return fact.object
        return ""

    def locked_door(self) -> tuple[str, str]:
        """Return a locked door of this level and its area; empty if unknown."""
        for fact in self.graph.live():
            door, _, level = fact.subject.partition(" of ")
            if fact.relation == "is" and fact.object == "locked" and level == self.level:
                for exit_ in self.graph.incoming(door):
                    if exit_.subject.endswith(f" of {level}"):
                        return door, exit_.subject
        return "", ""


_FIND_STAIRS = "find the stairs down"
_SEARCHED_TEXT = "You searched for hidden ways"
_BLOCKED_TEXT = "somebody is in the way"
_EXPLORED_TEXT = "nothing left to explore"
_AVOIDED = (
    "floating eye", "acid blob", "gas spore", "cockatrice", "chickatrice", "blue jelly",
    "spotted jelly", "ochre jelly", "brown mold", "yellow mold", "green mold", "red mold",
    "violet fungus", "shrieker", "gelatinous cube", "unseen creature",
)  # fmt: skip
"""Creatures that are harmful to touch and slow enough to be avoided."""
_DEADLY = ("floating eye", "gas spore", "cockatrice", "chickatrice", "blue jelly")
_PREY = frozenset((
    "newt", "jackal", "sewer rat", "giant rat", "gnome", "gnome lord", "dwarf", "hill orc",
    "Mordor orc", "Uruk-hai", "goblin", "rock piercer", "fox", "coyote", "giant ant", "jaguar",
    "rothe", "hyena", "wolf", "snow orc", "gecko", "baby crocodile", "iguana", "lichen", "pony",
    "dingo", "imp", "giant beetle", "dwarf lord", "gnome king", "soldier ant",
))  # fmt: skip
"""Creatures that are safe to eat when fresh."""
_LASTING_FOOD = frozenset((
    "food ration", "cram ration", "lembas wafer", "pancake", "fortune cookie", "apple", "orange",
    "pear", "melon", "banana", "carrot", "candy bar", "cream pie", "slime mold",
))  # fmt: skip
"""Food that does not rot."""
_PRAYER_INTERVAL, _FIRST_PRAYER = 800, 150
"""Least number of turns between prayers, and before the first one."""
_REST_BELOW = 0.6
"""Share of hit points below which the player rests."""
_MAX_IDLE_ACTIONS = 2
"""Most consecutive actions without game time before the player tries something else."""


class Descender(RulePolicy):
    """A NetHack player that explores, fights, rests, prays when weak, and descends when ready.

    Args:
        eager: Number of experience levels, in [0, 20], by which it descends earlier: it leaves
            dungeon level ``d`` at experience level ``min(d + 1 - eager, 8)``.
    """

    dialect: ClassVar[str] = "nethack"
    start: ClassVar[Descent] = Descent()
    focus: Descent

    def __init__(self, eager: int = 0) -> None:
        super().__init__()
        check_int("eager", eager, 0, 20)
        self.eager = eager

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action and publish its plan as ``focus``."""
        now = DungeonView(obs, self._task(obs))
        plan = self.focus
        plan = replace(plan, idle=plan.idle + 1 if plan.action and now.turn == plan.turn else 0)
        aim, action = self._decide(now, plan)
        prayed = now.turn if action == "pray" else plan.prayed
        self.focus = replace(plan, aim=aim, action=action, turn=now.turn, prayed=prayed)
        return action

    def _decide(self, now: DungeonView, plan: Descent) -> tuple[str, str]:
        if now.actions and "explore level" not in now.actions:
            known = [a for a in ("answer n", "cancel") if a in now.actions]
            return "get rid of a question", known[0] if known else now.actions[0]
        if plan.idle > _MAX_IDLE_ACTIONS:
            moves = [*now.options("go "), "search"]
            return "try something else", moves[int(self.rng.integers(len(moves)))]
        advisers = (
            self._survive, self._eat, self._fight, self._drop_unpaid, self._fetch, self._rest,
            self._descend,
        )  # fmt: skip
        advice = (advise(now, plan) for advise in advisers)
        return next(filter(None, advice), ("explore", "explore level"))

    def _survive(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        in_need = now.hp < 1 / 7 or now.points < 6
        starved = any(word in now.condition for word in ("weak", "faint"))
        rested = (
            now.turn - plan.prayed > _PRAYER_INTERVAL if plan.prayed else now.turn > _FIRST_PRAYER
        )
        if (in_need or (starved and not now.options("eat "))) and rested:
            return "survive", "pray"
        if in_need and now.near:
            for action in ("go up", "go down"):
                if action in now.actions:
                    return "get away", action
        return None

    def _eat(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        if not any(word in now.condition for word in ("hungry", "weak", "faint")) or now.near:
            return None
        if plan.aim.startswith("eat the ") and "eat here" in now.actions:
            return "eat", "eat here"
        food = [action for action in now.options("eat ") if action != "eat here"]
        if food:
            return "eat", food[0]
        if plan.action.startswith("melee attack "):  # a fresh kill is safe to eat
            prey = plan.action.removeprefix("melee attack ")
            action = f"go to {prey} corpse"
            if prey in _PREY and action in now.actions:
                return f"eat the {prey} corpse", action
        return None

    def _fight(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        foes = [a.removeprefix("melee attack ") for a in now.options("melee attack ")]
        foes = [foe for foe in foes if not foe.startswith(_AVOIDED)]
        foes.sort(key=lambda foe: foe not in now.near)
        if not foes or "no way to" in now.text or (plan.idle and plan.action.startswith("melee")):
            return None
        return f"get rid of the {foes[0]}", f"melee attack {foes[0]}"

    def _fetch(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        if now.near or plan.action == "pick up":
            return None
        if plan.aim == "take food along" and "pick up" in now.actions:
            return plan.aim, "pick up"
        ways = [action for action in now.options("go to ") if action[6:] in _LASTING_FOOD]
        return ("take food along", ways[0]) if ways and not plan.idle else None

    def _drop_unpaid(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        """Drop unpaid items, since the shopkeeper does not let the player leave with them."""
        for line in now.inventory.splitlines():
            if "(unpaid" in line:
                drops = [a for a in now.options("drop ") if a.endswith(f"({line[0]})")]
                return ("leave what is not paid for", drops[0]) if drops else None
        return None

    def _rest(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        hungry = any(word in now.condition for word in ("hungry", "weak", "faint"))
        if now.hp >= _REST_BELOW or hungry or now.options("melee attack "):
            return None
        return "rest", "search 20"

    def _descend(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        done = any(said in now.text for said in (_EXPLORED_TEXT, _SEARCHED_TEXT, _BLOCKED_TEXT))
        done |= plan.aim.startswith((_FIND_STAIRS, "go to the stairs", "break open"))
        fit = now.experience >= min(now.depth + 1 - self.eager, 8)
        if not (fit or done):
            return None
        if "go down" in now.actions:
            return "go down", "go down"
        place = now.way_down()
        if place:
            stairs = now.options("go to stairs down", "go to ladder down")
            area = place.partition(" of ")[0]
            action = stairs[0] if place == now.here and stairs else f"go to {area}"
            if action in now.actions:
                return f"go to the stairs down in {place}", action
        if not done:
            return None
        foes = [foe for foe in now.near if foe.startswith(_AVOIDED)]
        foes = [foe for foe in foes if f"melee attack {foe}" in now.actions]
        if foes and not foes[0].startswith(_DEADLY) and now.hp > _REST_BELOW:
            return _FIND_STAIRS, f"melee attack {foes[0]}"
        return self._open_hidden_way(now, plan) or self._walk_around(now)

    def _open_hidden_way(self, now: DungeonView, plan: Descent) -> tuple[str, str] | None:
        kicks = now.options("kick door ")
        if kicks:
            return "break open a door", kicks[int(self.rng.integers(len(kicks)))]
        door, place = now.locked_door()
        action = f"go to {place.partition(' of ')[0]}"
        if door and place != now.here and action in now.actions:
            return f"break open {door} of {place}", action
        return None

    def _walk_around(self, now: DungeonView) -> tuple[str, str]:
        rooms = [*now.options("go to room ", "go to corridor "), "explore level"]
        return _FIND_STAIRS, rooms[int(self.rng.integers(len(rooms)))]

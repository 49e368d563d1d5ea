"""LTL-GATA (Tuli et al. 2022): GATA with instructions as a temporal formula that is progressed.

The formula is a conjunction over recalled facts, progressed as by Bacchus and Kabanza. The paper
encodes it by a transformer; here an open instruction marks the node that it is about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Annotated, Any

from gym_memory.baselines.rl.gata import GataLearner, GataSettings
from gym_memory.baselines.rl.shared.bags import ObservationBags
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.records import Observation, Triple
from gym_memory.core.settings import Help
from gym_memory.graph.schema import INVENTORY

__all__ = ["Formula", "LtlGataLearner", "LtlGataSettings", "instructions", "progress"]

Formula = tuple[Any, ...]
"""``("true",)``, ``("fact", *triple)``, or ``next``, ``eventually`` or ``and`` of others."""

TRUE: Formula = ("true",)
_START: Formula = ("eventually", ("fact", "cookbook", "is", "read"))
"""First instruction; it ends when a recipe is known."""
_MEAL = "meal"


def progress(formula: Formula, facts: Collection[Triple]) -> Formula | None:
    """Return the rest of a formula after a step in which ``facts`` hold; None if violated.

    >>> fried = ("fact", "egg", "is", "fried")
    >>> progress(("and", ("eventually", fried), ("next", fried)), [Triple("egg", "is", "fried")])
    ('fact', 'egg', 'is', 'fried')
    """
    match formula:
        case ("fact", *triple):
            return TRUE if Triple(*triple) in facts else None
        case ("next", later):
            return later
        case ("eventually", later):
            return TRUE if progress(later, facts) == TRUE else formula
        case ("and", *parts):
            found = [progress(part, facts) for part in parts]
            if None in found:
                return None
            left = tuple(dict.fromkeys(part for part in found if part not in (None, TRUE)))
            return ("and", *left) if len(left) > 1 else left[0] if left else TRUE
    return TRUE


def instructions(facts: Iterable[Triple]) -> Formula | None:
    """Return a formula that requires each step of the recalled recipe; None without a recipe."""
    wanted: dict[Formula, None] = {}
    for thing, relation, what in facts:
        if relation == "requires":
            wanted["eventually", ("fact", what, "is in", INVENTORY)] = None
        elif relation == "needs to be":
            wanted["eventually", ("fact", thing, "is", what)] = None
    if not any(fact[2] == "is in" for _, fact in wanted):
        return None
    return ("and", *wanted, ("eventually", ("fact", _MEAL, "is in", INVENTORY)))


@dataclasses.dataclass(frozen=True)
class LtlGataSettings(GataSettings):
    """Settings of LTL-GATA, beyond GATA's."""

    formula_bonus: Annotated[
        float, Help("Added reward once all instructions are followed, +1 in the paper.")
    ] = 1.0


class LtlGataLearner(GataLearner):
    """A GATA learner that marks the nodes of open instructions."""

    name = "ltl-gata"
    settings_class = LtlGataSettings
    settings: LtlGataSettings
    _open: Formula = TRUE

    def see(
        self,
        obs: Observation,
        task_id: str = "",
        before: ObservationBags | None = None,
        action: int = -1,
    ) -> ObservationBags:
        """Progress the instructions, or make them once a recipe is known; encode both."""
        todo = before.todo if before is not None else _START
        recipe = instructions(obs["triples"]) if todo == _START else None
        self._open = progress(recipe or todo, frozenset(obs["triples"])) or TRUE
        return super().see(obs, task_id, before, action)._replace(todo=self._open)

    def marks_of(self, name: str) -> list[str]:
        """Return the states that a thing is still to reach."""
        parts = self._open[1:] if self._open[0] == "and" else (self._open,)
        facts = [fact[1:] for kind, *rest in parts if kind == "eventually" for fact in rest]
        return [f"n todo {relation} {what}" for thing, relation, what in facts if thing == name]

    def observe(self, slot: int, experience: Experience) -> None:
        """Keep a step, with the bonus if it fulfilled the last instruction."""
        before, after = experience.seen.todo, experience.next_seen.todo
        if after == TRUE != before:
            reward = experience.reward + self.settings.formula_bonus
            experience = experience._replace(reward=reward)
        super().observe(slot, experience)

"""A text read by the plain rules, and the facts after it."""

from __future__ import annotations

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction
from gym_memory.extract.draft import apply
from gym_memory.extract.plain import PlainRules
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import direction_of

TASK = Task("t", "", "unheard of")


def read(
    text: str, action: str = "", known: str = "", inventory: str = "", reward: float = 0.0
) -> tuple[Extraction, set[str]]:
    """Read a step after some known facts; return the extraction and the facts that hold then."""
    graph = TemporalGraph()
    for fact in filter(None, known.split("; ")):
        graph.add(Triple(*fact.split("|")), 0)
    step = Step(1, text, action, reward, inventory=inventory)
    extraction = PlainRules().extract(step, graph, TASK)
    apply(extraction, graph, 1)
    return extraction, {"|".join(fact) for fact in graph.live()}


def changes(known: str, action: str, text: str) -> set[str]:
    """Return the facts that a step adds, and those that it ends with a minus; no ways taken."""
    before = set(filter(None, known.split("; ")))
    _, after = read(text, action, known)
    ways = {fact for fact in after - before if direction_of(fact.split("|")[1])}
    return (after - before - ways) | {f"-{fact}" for fact in before - after}

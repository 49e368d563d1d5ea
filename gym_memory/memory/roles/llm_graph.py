"""Roles of AriGraph and STMA that a chat model plays: facts, relations, what to look up."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from typing import Annotated, Any

from gym_memory.core.optional import require
from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.extract.base import Extraction, Extractor, Mention, Pattern
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, OPPOSITE, PLAYER, way_relation
from gym_memory.llm.base import ChatModel
from gym_memory.memory.roles import rules
from gym_memory.memory.roles.base import (
    Aggregate,
    Explore,
    ExtractRelations,
    Outdated,
    RelevantEntities,
)
from gym_memory.memory.roles.llm import LLMRole
from gym_memory.memory.roles.text import (
    clip,
    fact_lines,
    prose,
    read_flag,
    read_replacements,
    read_triple_lists,
    read_triples,
    triples_json,
)

__all__ = [
    "LLMAggregate",
    "LLMExplore",
    "LLMExtractRelations",
    "LLMExtractor",
    "LLMOutdated",
    "LLMRelevantEntities",
]

_OBSERVATION = 2000
_KNOWN_FACTS = 40
_EXISTING_FACTS = 60
_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]*")


class LLMOutdated(LLMRole):
    """AriGraph's selection of outdated triples (Appendix E)."""

    prompt = "outdated"

    def __init__(self, model: ChatModel, rule: Outdated = rules.outdated):
        super().__init__(model, rule)

    def __call__(
        self, existing: Sequence[Triple], new: Sequence[Triple], task: Task
    ) -> list[Triple]:
        """The existing facts that the answer replaces by a new one."""
        return self.or_rule(
            lambda: self._answer(existing, new), lambda: self.rule(existing, new, task)
        )

    def _answer(self, existing: Sequence[Triple], new: Sequence[Triple]) -> list[Triple]:
        answer = self.ask(existing=fact_lines(existing), new=fact_lines(new))
        replaced = {_key(old) for old, _ in read_replacements(answer.text)}
        fresh = set(new)
        return [fact for fact in existing if _key(fact) in replaced and fact not in fresh]


def _key(fact: Triple) -> tuple[str, ...]:
    """A fact as it is compared with its copy in an answer."""
    return tuple(" ".join(part.lower().split()) for part in fact)


class LLMExtractor(LLMRole):
    """AriGraph's triplet extraction and selection of outdated triples (Appendix E).

    Differs from the paper in three points: the place of the player is asked for as a fact, since
    a memory learns it from nowhere else; existing facts are looked through for outdated ones
    only where the schema does not settle it; and what is known is shown around the player
    instead of a fixed example. As in the authors' code a change of place adds the way there and
    back.

    Args:
        model: The chat model.
        extractor: From the dialect of a task to its rules, e.g.
            :func:`gym_memory.extract.get_extractor`.
        outdated: The role that selects outdated facts; default: the same model. With
            :func:`gym_memory.memory.roles.rules.outdated` a step takes one call.
    """

    prompt = "extract"
    max_tokens = 1024

    def __init__(
        self,
        model: ChatModel,
        extractor: Callable[[str], Extractor],
        outdated: Outdated | None = None,
    ):
        super().__init__(model, extractor)
        self.outdated: Outdated = LLMOutdated(model) if outdated is None else outdated
        self.parts = (self.outdated,)

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step, given the graph as it stands before the step."""
        return self.or_rule(
            lambda: self._extract(step, graph, task),
            lambda: self.rule(task.dialect).extract(step, graph, task),
        )

    def _extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        here = graph.value(PLAYER, "location")
        around = [INVENTORY] if here is None else [here.object, INVENTORY]
        answer = self.ask(
            known=fact_lines(graph.k_hop(around, 2)[:_KNOWN_FACTS]),
            task=clip(task.goal, _OBSERVATION),
            action=step.action,
            observation=clip(step.text, _OBSERVATION),
            inventory=clip(step.inventory, _OBSERVATION),
        )
        found = read_triples(answer.text)
        if answer.finish == "length":
            del found[-1:]  # cut in the middle
        facts = [_normal(fact, graph) for fact in found]
        facts += _ways(facts, step.action, None if here is None else here.object)
        facts = list(dict.fromkeys(facts))
        settled = set(facts)
        existing = list(
            dict.fromkeys(
                fact
                for name in dict.fromkeys(part for f in facts for part in (f.subject, f.object))
                for fact in graph.incident(name)
                if fact not in settled
            )
        )
        slots = set(rules.outdated(existing, facts, task))
        open_facts = [fact for fact in existing if fact not in slots][-_EXISTING_FACTS:]
        ended = self.outdated(open_facts, facts, task) if open_facts and facts else []
        return Extraction(
            tuple(_mention(fact, step.text) for fact in facts),
            tuple(Pattern(*fact) for fact in ended),
        )


def _normal(fact: Triple, graph: TemporalGraph) -> Triple:
    """A fact in the graph's names; text that is quoted stays as it is."""
    obj = fact.object if fact.relation.lower() == "says" else graph.normalize(fact.object)
    return Triple(graph.normalize(fact.subject), fact.relation.lower(), obj)


def _ways(facts: Sequence[Triple], action: str, before: str | None) -> list[Triple]:
    """The way that a step took, there and back, where the facts say that the place changed."""
    words = action.lower().split()
    direction = words[-1] if words and len(words) <= 2 else ""
    places = [f.object for f in facts if f.subject == PLAYER and f.relation == "is in"]
    if direction not in OPPOSITE or before is None or not places or places[-1] == before:
        return []
    here = places[-1]
    return [
        Triple(here, way_relation(direction), before),
        Triple(before, way_relation(OPPOSITE[direction]), here),
    ]


def _mention(fact: Triple, text: str) -> Mention:
    """A fact with the first sentence that names its subject and its object, else the object."""
    folded = text.lower()
    if len(folded) != len(text):
        return Mention(fact)
    subject, obj = fact.subject.lower(), fact.object.lower()
    for sentence in _SENTENCE.finditer(folded):
        if subject in sentence[0] and obj in sentence[0]:
            return Mention(fact, *sentence.span())
    start = folded.find(obj)
    return Mention(fact, start, start + len(obj)) if start >= 0 else Mention(fact)


class LLMRelevantEntities(LLMRole):
    """What to look up and how far around it (authors' code of AriGraph)."""

    prompt = "entities"

    def __init__(self, model: ChatModel, rule: RelevantEntities = rules.relevant_entities):
        super().__init__(model, rule)

    def __call__(self, cue: Cue, known: Container[str]) -> list[tuple[str, int]]:
        """Search texts with depth 1 or 2, as the model orders them."""
        return self.or_rule(lambda: self._answer(cue), lambda: self.rule(cue, known))

    def _answer(self, cue: Cue) -> list[tuple[str, int]]:
        answer = self.ask(
            schema=_depths(),
            task=clip(cue.task, _OBSERVATION),
            plan=clip(cue.focus, _OBSERVATION),
            observation=clip(cue.text, _OBSERVATION),
            inventory=clip(cue.inventory, _OBSERVATION),
        )
        return [(" ".join(name.lower().split()), hops) for name, hops in answer.parsed.root.items()]


_DEPTHS: list[Any] = []


def _depths() -> Any:
    """The schema of the answer: an object from names to 1 or 2."""
    if not _DEPTHS:
        pydantic = require("pydantic", "llm", "answers in JSON")
        name = Annotated[str, pydantic.StringConstraints(min_length=1, max_length=200)]
        depth = Annotated[int, pydantic.Field(ge=1, le=2)]
        entities = Annotated[dict[name, depth], pydantic.Field(max_length=50)]
        _DEPTHS.append(pydantic.RootModel[entities])
    return _DEPTHS[0]


class LLMExplore(LLMRole):
    """Whether the plan needs exploring (AriGraph, Appendix E)."""

    prompt = "explore"
    max_tokens = 16

    def __init__(self, model: ChatModel, rule: Explore = rules.explore):
        super().__init__(model, rule)

    def __call__(self, plan: str, task: Task) -> bool:
        """True when unexplored exits should be shown."""
        return self.or_rule(
            lambda: read_flag(self.ask(plan=clip(plan, _OBSERVATION), task=task.goal).text),
            lambda: self.rule(plan, task),
        )


class LLMExtractRelations(LLMRole):
    """STMA's relation retriever (D.2)."""

    prompt = "relations"
    max_tokens = 1536

    def __init__(self, model: ChatModel, rule: ExtractRelations):
        super().__init__(model, rule)

    def __call__(self, belief: str, task: Task) -> list[Triple]:
        """The latest relations stated in ``belief``."""
        return self.or_rule(
            lambda: read_triple_lists(self.ask(belief=clip(belief, 2 * _OBSERVATION)).text),
            lambda: self.rule(belief, task),
        )


class LLMAggregate(LLMRole):
    """STMA's relation aggregator (D.3)."""

    prompt = "aggregate"
    max_tokens = 1024

    def __init__(self, model: ChatModel, rule: Aggregate):
        super().__init__(model, rule)

    def __call__(self, triples: Sequence[Triple], task: Task) -> str:
        """The subgraph in prose."""
        return self.or_rule(
            lambda: prose(self.ask(task=task.goal, triples=triples_json(triples)).text),
            lambda: self.rule(triples, task),
        )
